// Command buffered sends a hundred messages and works on them, with a tenth of the
// requests that this would take one by one.
package main

import (
	"context"
	"fmt"
	"log"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

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
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("buffered-jobs")})
	if err != nil {
		return err
	}
	var senders sync.WaitGroup
	for i := range 100 {
		senders.Go(func() {
			body := fmt.Sprint("job ", i)
			if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{
				QueueUrl: queue.QueueUrl, MessageBody: &body,
			}); err != nil {
				log.Print(err)
			}
		})
	}
	senders.Wait()
	consuming, stop := context.WithCancel(ctx)
	defer stop()
	var done atomic.Int64
	err = client.Consume(consuming, *queue.QueueUrl, func(ctx context.Context, message types.Message) error {
		if done.Add(1) == 100 {
			stop()
		}
		return nil // the message is done and can be deleted
	}, func(o *sqsbuffer.ConsumeOptions) {
		o.Concurrency = 50
	})
	if err != nil {
		return err
	}
	fmt.Println(done.Load(), "jobs done")
	return client.Close(ctx)
}
