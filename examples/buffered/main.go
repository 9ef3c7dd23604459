// Command buffered sends a hundred messages, and receives and deletes them, with
// a tenth of the requests that this would take.
package main

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
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
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("jobs")})
	if err != nil {
		return err
	}
	var senders sync.WaitGroup
	for i := range 100 {
		senders.Go(func() {
			body := fmt.Sprint("job ", i)
			if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: &body}); err != nil {
				log.Print(err)
			}
		})
	}
	senders.Wait()
	var deletes sync.WaitGroup
	done := 0
	for done < 100 {
		received, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue.QueueUrl, MaxNumberOfMessages: 10})
		if err != nil {
			return err
		}
		done += len(received.Messages)
		for _, message := range received.Messages {
			deletes.Go(func() {
				if _, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: queue.QueueUrl, ReceiptHandle: message.ReceiptHandle}); err != nil {
					log.Print(err)
				}
			})
		}
	}
	deletes.Wait()
	fmt.Println(done, "jobs done")
	return client.Close(ctx)
}
