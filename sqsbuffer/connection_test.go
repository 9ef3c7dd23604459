package sqsbuffer_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/sqsbuffer"
)

// A slowWriter is a connection of a busy client: a write returns a while after its data was sent.
type slowWriter struct{ net.Conn }

func (c slowWriter) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	time.Sleep(20 * time.Millisecond)
	return n, err
}

// The SDK closes a request's body when the answer begins. If the transport was still about to see that the body has
// ended, it got an error, and closed the connection in the middle of the answer. The SDK then tried again, so that
// received messages stayed hidden, and sent messages were sent twice.
func TestAnswerThatIsFasterThanTheWriter(t *testing.T) {
	answering := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		time.Sleep(50 * time.Millisecond)
		fmt.Fprint(w, constantAnswer(operation, 2))
	}))
	defer answering.Close()
	dialer := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return slowWriter{c}, err
	}}
	defer dialer.CloseIdleConnections()
	plain := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &answering.URL, HTTPClient: &http.Client{Transport: dialer},
		Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: rootKey, SecretAccessKey: rootSecret}, nil
		}),
	})
	c := newClient(t, plain)
	for _, queue := range []string{answering.URL + "/0/q", answering.URL + "/0/q.fifo"} {
		for name, call := range callsOf(c, queue) {
			t.Run(name+" "+queue[strings.LastIndexByte(queue, '/')+1:], func(t *testing.T) {
				if err := call(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// callsOf are calls that could lose messages or store them twice.
func callsOf(c *sqsbuffer.Client, queue string) map[string]func(context.Context) error {
	send := &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &constantBody}
	return map[string]func(context.Context) error{
		"receive": func(ctx context.Context) error {
			_, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &queue})
			return err
		},
		"send": func(ctx context.Context) error {
			_, err := c.SendMessage(ctx, send)
			return err
		},
		"sends": func(ctx context.Context) error {
			first, second := c.SendMessageAsync(ctx, send), c.SendMessageAsync(ctx, send)
			_, err := first()
			if err == nil {
				_, err = second()
			}
			return err
		},
	}
}
