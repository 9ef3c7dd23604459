package main

import (
	"bytes"
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// bodies is the S3 client as sqsbuffer needs it.
type bodies struct{ *s3.Client }

func (b bodies) Put(ctx context.Context, bucket, key string, body []byte) error {
	_, err := b.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(body)})
	return err
}

func (b bodies) Get(ctx context.Context, bucket, key string) (io.ReadCloser, error) {
	object, err := b.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	return object.Body, nil
}

func (b bodies) Delete(ctx context.Context, bucket, key string) error {
	_, err := b.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	return err
}
