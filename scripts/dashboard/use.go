package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// The root key of the server, which is not a secret on this machine.
const (
	keyID  = "AKIADASHBOARD0000000"
	secret = "dashboard-dashboard-dashboard-dashboard"
)

type sqsAttribute = types.QueueAttributeName

// scene is who uses the server.
type scene struct {
	client    *sqs.Client
	publisher *sns.Client
	began     time.Time
	length    time.Duration

	mu  sync.Mutex
	err error
}

// at returns how far the scene has gone, from 0 to 1.
func (s *scene) at() float64 { return float64(time.Since(s.began)) / float64(s.length) }

// use has some services use the server: orders, whose consumers pause for a while and then catch up; mails, of which
// some cannot be sent for a while and end in the dead-letter queue; invoices, in order; and shipments, which are a
// topic.
func use(ctx context.Context, endpoint string, length time.Duration) error {
	credentials := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}, nil
	})
	s := &scene{
		began: time.Now(), length: length,
		client:    sqs.New(sqs.Options{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials}),
		publisher: sns.New(sns.Options{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials}),
	}
	dead, err := s.queue(ctx, "mails-dead", nil)
	if err != nil {
		return err
	}
	deadARN, err := s.client.GetQueueAttributes(
		ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: &dead, AttributeNames: []sqsAttribute{"QueueArn"}},
	)
	if err != nil {
		return err
	}
	orders, err1 := s.queue(ctx, "orders", nil)
	mails, err2 := s.queue(ctx, "mails", map[string]string{
		"VisibilityTimeout": "5",
		"RedrivePolicy":     `{"maxReceiveCount":"3","deadLetterTargetArn":"` + deadARN.Attributes["QueueArn"] + `"}`,
	})
	invoices, err3 := s.queue(ctx, "invoices.fifo", map[string]string{"FifoQueue": "true"})
	topic, subscribed, err4 := s.topic(ctx)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { s.produce(ctx, orders, 25) })
	all.Go(func() { s.produce(ctx, mails, 8) })
	all.Go(func() { s.produce(ctx, invoices, 5) })
	for range 2 {
		all.Go(func() {
			s.consume(ctx, orders, func() bool { at := s.at(); return at > 0.3 && at < 0.5 }, func() bool {
				return true
			})
		})
	}
	never := func() bool { return false }
	all.Go(func() {
		s.consume(ctx, mails, never, func() bool { at := s.at(); return at < 0.6 || at > 0.75 || rand.IntN(5) > 0 })
	})
	for _, queue := range append(subscribed, invoices) {
		all.Go(func() { s.consume(ctx, queue, never, func() bool { return true }) })
	}
	all.Go(func() { s.publish(ctx, topic, 6) })
	all.Wait()
	return s.err
}

func (s *scene) queue(ctx context.Context, name string, attributes map[string]string) (string, error) {
	q, err := s.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		return "", err
	}
	return *q.QueueUrl, nil
}

// failed keeps the first error, but not that the time is over.
func (s *scene) failed(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return ctx.Err() != nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	return true
}

// produce sends about this many messages a second; those of a FIFO queue sometimes twice.
func (s *scene) produce(ctx context.Context, queue string, rate float64) {
	fifo := queue[len(queue)-5:] == ".fifo"
	for n := 0; ctx.Err() == nil; n++ {
		m := &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: aws.String("message " + strconv.Itoa(n))}
		times := 1
		if fifo {
			m.MessageGroupId, m.MessageDeduplicationId = aws.String(strconv.Itoa(n%7)), aws.String(strconv.Itoa(n))
			if n%10 == 0 {
				times = 2
			}
		}
		for range times {
			if _, err := s.client.SendMessage(ctx, m); s.failed(ctx, err) {
				return
			}
		}
		wait(ctx, time.Duration(float64(time.Second)/rate*(0.5+rand.Float64())))
	}
}

// consume receives and deletes messages, unless it pauses or fails.
func (s *scene) consume(ctx context.Context, queue string, pauses, succeeds func() bool) {
	for ctx.Err() == nil {
		if pauses() {
			wait(ctx, time.Second)
			continue
		}
		got, err := s.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 1,
		})
		if s.failed(ctx, err) {
			return
		}
		for _, m := range got.Messages {
			wait(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
			if !succeeds() {
				continue
			}
			in := &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle}
			if _, err := s.client.DeleteMessage(ctx, in); s.failed(ctx, err) {
				return
			}
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
