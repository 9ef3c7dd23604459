// Command large sends a message that is larger than SQS takes, and receives it. It
// takes a bucket called bodies.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/sqsbuffer"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	client, err := sqsbuffer.New(sqs.NewFromConfig(cfg))
	if err != nil {
		return err
	}
	store := bodies{s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })}
	large, err := sqsbuffer.NewLarge(client, store, "bodies")
	if err != nil {
		return err
	}
	queue, err := large.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("large")})
	if err != nil {
		return err
	}
	body := strings.Repeat("large ", 1_000_000)
	if _, err := large.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: queue.QueueUrl, MessageBody: &body,
	}); err != nil {
		return err
	}
	received, err := large.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue.QueueUrl})
	if err != nil {
		return err
	}
	for _, message := range received.Messages {
		fmt.Println(len(*message.Body), "bytes")
		done := &sqs.DeleteMessageInput{QueueUrl: queue.QueueUrl, ReceiptHandle: message.ReceiptHandle}
		if _, err := large.DeleteMessage(ctx, done); err != nil {
			return err
		}
	}
	return large.Close(ctx)
}
