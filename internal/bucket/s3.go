package bucket

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
)

// S3 is a Store that speaks Amazon S3: a service beside this one, or AWS's. Buckets are named in the path of a URL, and
// no request has the newer checksums: many services support neither hosts of single buckets nor those checksums.
type S3 struct{ client s3Client }

// OpenS3 returns the Store at a URL. Keys and settings come from where AWS's SDKs look for them: the environment, the
// shared files, or the role of the machine. The default region is us-east-1. It does not contact the service yet.
func OpenS3(ctx context.Context, endpoint string) (*S3, error) {
	at, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("the endpoint of S3: %w", err)
	}
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the settings of AWS's SDK: %w", err)
	}
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	return &S3{newS3Client(at, c)}, nil
}

// Find implements Store.
func (s *S3) Find(ctx context.Context, bucket string) error {
	if err := CheckName(bucket); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	_, err := s.client.do(ctx, &s3Request{method: http.MethodHead, bucket: bucket})
	return translate(err)
}

// Put implements Store.
func (s *S3) Put(ctx context.Context, bucket, key string, o Object) error {
	if err := check(bucket, key); err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/x-gzip"}}
	for name, value := range o.Metadata {
		header.Set(metadataHeader+name, value)
	}
	_, err := s.client.do(ctx, &s3Request{
		method: http.MethodPut, bucket: bucket, key: key, header: header, body: o.Body,
	})
	return translate(err)
}

// Get implements Store.
func (s *S3) Get(ctx context.Context, bucket, key string) (Object, error) {
	if err := check(bucket, key); err != nil {
		return Object{}, err
	}
	answer, err := s.client.do(ctx, &s3Request{method: http.MethodGet, bucket: bucket, key: key})
	if err != nil {
		return Object{}, translate(err)
	}
	o := Object{Body: answer.body, Metadata: make(map[string]string)}
	for name := range answer.header {
		if short, ok := strings.CutPrefix(name, metadataHeader); ok {
			o.Metadata[strings.ToLower(short)] = answer.header.Get(name)
		}
	}
	return o, nil
}

// metadataHeader begins the names of the headers that hold metadata, as net/http spells them.
const metadataHeader = "X-Amz-Meta-"

// List implements Store.
func (s *S3) List(ctx context.Context, bucket, prefix string) (keys []string, err error) {
	list, err := s.list(ctx, bucket, prefix)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		keys = append(keys, o.Key)
	}
	return keys, nil
}

func (s *S3) list(ctx context.Context, bucket, prefix string) (list []Listed, err error) {
	if err := CheckName(bucket); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	for {
		answer, err := s.client.do(ctx, &s3Request{method: http.MethodGet, bucket: bucket, query: query})
		if err != nil {
			return nil, translate(err)
		}
		var page struct {
			Contents              []Listed
			IsTruncated           bool
			NextContinuationToken string
		}
		if err := xml.NewDecoder(bytes.NewReader(answer.body)).Decode(&page); err != nil {
			return nil, fmt.Errorf("read the list of the bucket %s: %w", bucket, err)
		}
		list = append(list, page.Contents...)
		if !page.IsTruncated {
			return list, nil
		}
		if page.NextContinuationToken == "" {
			return nil, fmt.Errorf("read the list of the bucket %s: %w without a token for the next page", bucket, io.ErrUnexpectedEOF)
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

func check(bucket, key string) error {
	if err := CheckName(bucket); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	return CheckKey(key)
}

// translate converts the service's refusals to those of this package.
func translate(err error) error {
	refused, ok := errors.AsType[*s3Error](err)
	if !ok {
		return err
	}
	switch refused.Code {
	case "NoSuchKey":
		return ErrNoObject
	case "NoSuchBucket":
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	case "AccessDenied", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch":
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	if refused.Code != "" {
		return err
	}
	switch refused.status { // of an answer without a body, as to HEAD
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	case http.StatusForbidden:
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}
