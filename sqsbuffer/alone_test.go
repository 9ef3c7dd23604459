package sqsbuffer_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// BenchmarkClientAlone measures the cost of the client itself: its requests are answered in memory.
func BenchmarkClientAlone(b *testing.B) {
	plain := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://localhost"), HTTPClient: constant{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: rootKey, SecretAccessKey: rootSecret}, nil
		}),
	})
	queue := aws.String("http://localhost/0/q")
	c := newClient(b, plain)
	b.Run("send", func(b *testing.B) {
		b.ReportAllocs()
		sendMany(b, c, queue)
	})
	b.Run("receive and delete", func(b *testing.B) {
		b.ReportAllocs()
		receiveAndDeleteMany(b, c, queue)
	})
	if err := c.Close(b.Context()); err != nil {
		b.Error(err)
	}
}

// constant is a service with constant answers.
type constant struct{}

var (
	constantBody   = strings.Repeat("x", 1024)
	constantDigest = fmt.Sprintf("%x", md5.Sum([]byte(constantBody)))
	constantBatch  = repeated(`{"Messages":[%s]}`, func(int) string {
		return fmt.Sprintf(`{"MessageId":"m","ReceiptHandle":%q,"Body":%q,"MD5OfBody":%q}`, strings.Repeat("h", 120),
			constantBody, constantDigest)
	}, 10)
)

func repeated(format string, entry func(i int) string, n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = entry(i)
	}
	return fmt.Sprintf(format, strings.Join(entries, ","))
}

func (constant) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	answer := constantAnswer(operation, bytes.Count(body, []byte(`"Id"`)))
	return &http.Response{
		StatusCode: http.StatusOK, ContentLength: int64(len(answer)), Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

// constantAnswer returns the answer to an operation, or to a batch of n.
func constantAnswer(operation string, n int) string {
	switch operation {
	case "ReceiveMessage":
		return constantBatch
	case "GetQueueAttributes":
		return `{"Attributes":{"VisibilityTimeout":"30"}}`
	case "SendMessage":
		return fmt.Sprintf(`{"MessageId":"m","MD5OfMessageBody":%q}`, constantDigest)
	}
	return repeated(`{"Successful":[%s]}`, func(i int) string {
		return fmt.Sprintf(`{"Id":"%d","MessageId":"m","MD5OfMessageBody":%q}`, i, constantDigest)
	}, n)
}
