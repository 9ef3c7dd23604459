package bucket

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
)

// s3Place is a Place in a service that speaks S3. An object is sent in one piece, so its maximum size is 5 GiB.
type s3Place struct {
	s3             *S3
	bucket, prefix string      // the prefix is empty or ends in a slash
	singly         atomic.Bool // the service removes one object by a request
}

func openS3Place(ctx context.Context, a *address) (Place, error) {
	endpoint := a.endpoint
	if endpoint == "" {
		endpoint = os.Getenv("AWS_ENDPOINT_URL_S3")
	}
	s, err := OpenS3(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	if a.region != "" {
		s.client.region = a.region
	}
	if endpoint == "" {
		s.client.endpoint.Scheme, s.client.endpoint.Host = "https", "s3."+s.client.region+".amazonaws.com"
	}
	return &s3Place{s3: s, bucket: a.bucket, prefix: a.prefix}, nil
}

// Close implements Place.
func (*s3Place) Close() error { return nil }

// Clean implements Place. An interrupted request leaves nothing.
func (*s3Place) Clean(context.Context) error { return nil }

// List implements Place.
func (p *s3Place) List(ctx context.Context, prefix string) ([]Listed, error) {
	list, err := p.s3.list(ctx, p.bucket, p.prefix+prefix)
	for i := range list {
		list[i].Key = strings.TrimPrefix(list[i].Key, p.prefix)
	}
	return list, err
}

// Open implements Place.
func (p *s3Place) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := p.request(http.MethodGet, key)
	if err != nil {
		return nil, err
	}
	body, err := p.s3.client.open(ctx, r)
	return body, translate(err)
}

// Put implements Place. The service refuses content with another digest.
func (p *s3Place) Put(ctx context.Context, key string, c *Content) error {
	r, err := p.request(http.MethodPut, key)
	if err != nil {
		return err
	}
	r.content = c
	_, err = p.s3.client.do(ctx, r)
	return translate(err)
}

// Create implements Place.
func (p *s3Place) Create(ctx context.Context, key string, body []byte) error {
	r, err := p.request(http.MethodPut, key)
	if err != nil {
		return err
	}
	r.header, r.body = http.Header{"If-None-Match": {"*"}}, body
	_, err = p.s3.client.do(ctx, r)
	if refused, ok := errors.AsType[*s3Error](err); ok && refused.status == http.StatusPreconditionFailed {
		return ErrExists
	}
	return translate(err)
}

// Delete implements Place. It removes up to 1,000 objects by one request, unless the service does not know how.
func (p *s3Place) Delete(ctx context.Context, keys ...string) error {
	for some := range slices.Chunk(keys, maxDeletions) {
		if err := p.deleteSome(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (p *s3Place) deleteSome(ctx context.Context, keys []string) error {
	if len(keys) > 1 && !p.singly.Load() {
		err := p.deleteAtOnce(ctx, keys)
		if refused, ok := errors.AsType[*s3Error](err); !ok || !refused.isUnknown() {
			return translate(err)
		}
		p.singly.Store(true)
	}
	for _, key := range keys {
		r, err := p.request(http.MethodDelete, key)
		if err != nil {
			return err
		}
		_, err = p.s3.client.do(ctx, r)
		if err = translate(err); err != nil && !errors.Is(err, ErrNoObject) {
			return err
		}
	}
	return nil
}

// maxDeletions is the maximum number of objects that one request removes, as in S3.
const maxDeletions = 1000

// deletion is the body of a request that removes objects.
type deletion struct {
	XMLName xml.Name  `xml:"http://s3.amazonaws.com/doc/2006-03-01/ Delete"`
	Quiet   bool      // the answer lists failures only
	Objects []deleted `xml:"Object"`
}

type deleted struct{ Key string }

func (p *s3Place) deleteAtOnce(ctx context.Context, keys []string) error {
	d := deletion{Quiet: true}
	for _, key := range keys {
		if err := check(p.bucket, p.prefix+key); err != nil {
			return err
		}
		d.Objects = append(d.Objects, deleted{p.prefix + key})
	}
	body, err := xml.Marshal(d)
	if err != nil {
		return err
	}
	sum := md5.Sum(body)
	answer, err := p.s3.client.do(ctx, &s3Request{
		method: http.MethodPost, bucket: p.bucket, query: url.Values{"delete": {""}}, body: body,
		header: http.Header{"Content-Md5": {base64.StdEncoding.EncodeToString(sum[:])}},
	})
	if err != nil {
		return err
	}
	var result struct {
		Errors []struct{ Key, Code, Message string } `xml:"Error"`
	}
	if err := xml.Unmarshal(answer.body, &result); err != nil && len(answer.body) > 0 {
		return fmt.Errorf("read which objects the bucket %s has removed: %w", p.bucket, err)
	}
	for _, e := range result.Errors {
		if e.Code != "NoSuchKey" {
			return fmt.Errorf("remove %s: %w", e.Key, &s3Error{http.StatusOK, e.Code, e.Message})
		}
	}
	return nil
}

func (p *s3Place) request(method, key string) (*s3Request, error) {
	r := &s3Request{method: method, bucket: p.bucket, key: p.prefix + key}
	return r, check(r.bucket, r.key)
}
