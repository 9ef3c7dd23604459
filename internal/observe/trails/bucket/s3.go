package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// S3 is a Store that speaks Amazon S3: a service beside this one, or AWS's.
type S3 struct{ client *s3.Client }

// OpenS3 returns the Store at a URL. Keys and settings come from where AWS's SDKs look for them: the environment, the shared
// files, or the role of the machine. A region that is not set there is us-east-1. Nothing is asked of the service yet.
func OpenS3(ctx context.Context, endpoint string) (*S3, error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the settings of AWS's SDK: %w", err)
	}
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	// Many services know neither hosts of single buckets nor the newer checksums.
	return &S3{s3.NewFromConfig(c, func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = &endpoint, true
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})}, nil
}

// Find implements Store.
func (s *S3) Find(ctx context.Context, bucket string) error {
	if err := CheckName(bucket); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &bucket})
	return translate(err)
}

// Put implements Store.
func (s *S3) Put(ctx context.Context, bucket, key string, o Object) error {
	if err := check(bucket, key); err != nil {
		return err
	}
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: bytes.NewReader(o.Body), Metadata: o.Metadata, ContentType: aws.String("application/x-gzip"),
	})
	return translate(err)
}

// Get implements Store.
func (s *S3) Get(ctx context.Context, bucket, key string) (Object, error) {
	if err := check(bucket, key); err != nil {
		return Object{}, err
	}
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return Object{}, translate(err)
	}
	body, err := io.ReadAll(out.Body)
	return Object{Body: body, Metadata: out.Metadata}, errors.Join(err, out.Body.Close())
}

// List implements Store.
func (s *S3) List(ctx context.Context, bucket, prefix string) (keys []string, err error) {
	if err := CheckName(bucket); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, translate(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	return keys, nil
}

func check(bucket, key string) error {
	if err := CheckName(bucket); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	return CheckKey(key)
}

// translate makes the service's refusals those of this package.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*types.NoSuchBucket](err); ok {
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	if _, ok := errors.AsType[*types.NoSuchKey](err); ok {
		return ErrNoObject
	}
	refused, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	switch refused.ErrorCode() {
	case "NoSuchBucket", "NotFound": // of HeadBucket
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	case "NoSuchKey":
		return ErrNoObject
	case "AccessDenied", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch":
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}
