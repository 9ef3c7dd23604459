package bucket

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
)

// s3Place is a Place in a service that speaks S3. An object is sent in one piece, so its maximum size is 5 GiB.
type s3Place struct {
	s3             *S3
	bucket, prefix string // the prefix is empty or ends in a slash
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

// Delete implements Place.
func (p *s3Place) Delete(ctx context.Context, key string) error {
	r, err := p.request(http.MethodDelete, key)
	if err != nil {
		return err
	}
	_, err = p.s3.client.do(ctx, r)
	if err = translate(err); errors.Is(err, ErrNoObject) {
		return nil
	}
	return err
}

func (p *s3Place) request(method, key string) (*s3Request, error) {
	r := &s3Request{method: method, bucket: p.bucket, key: p.prefix + key}
	return r, check(r.bucket, r.key)
}
