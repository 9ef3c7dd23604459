package sqsbuffer_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/sqsbuffer"
)

// plainClient stands for sqs.NewFromConfig(cfg).
func plainClient() *sqs.Client { return newService().client() }

func ExampleNew() {
	ctx := context.Background()
	client, err := sqsbuffer.New(plainClient(), func(s *sqsbuffer.Settings) {
		s.MaxBatchOpenMs = 50
	})
	if err != nil {
		log.Fatal(err)
	}
	// From here on, use it like the plain client.
	var senders sync.WaitGroup
	for i := range 100 {
		senders.Go(func() {
			_, err := client.SendMessage(ctx, &sqs.SendMessageInput{
				QueueUrl: aws.String(standard), MessageBody: aws.String(fmt.Sprint("job ", i)),
			})
			if err != nil {
				log.Print(err)
			}
		})
	}
	senders.Wait()
	out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(standard), MaxNumberOfMessages: 10,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(out.Messages), "messages")
	if err := client.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: 10 messages
}

// One goroutine sends to a FIFO queue: in order, and in batches.
func ExampleClient_SendMessageAsync() {
	ctx := context.Background()
	client, err := sqsbuffer.New(plainClient())
	if err != nil {
		log.Fatal(err)
	}
	var waits []func() (*sqs.SendMessageOutput, error)
	for i := range 20 {
		waits = append(waits, client.SendMessageAsync(ctx, &sqs.SendMessageInput{
			QueueUrl: aws.String(fifo), MessageGroupId: aws.String("orders"),
			MessageBody: aws.String(fmt.Sprint("order ", i)), MessageDeduplicationId: aws.String(fmt.Sprint(i)),
		}))
	}
	for _, wait := range waits {
		if _, err := wait(); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("stored")
	if err := client.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: stored
}

func ExampleClient_Consume() {
	client, err := sqsbuffer.New(plainClient())
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background()) // a program stops by signal.NotifyContext
	client.SendMessageAsync(ctx, &sqs.SendMessageInput{
		QueueUrl: aws.String(standard), MessageBody: aws.String("hello"),
	})

	err = client.Consume(ctx, standard, func(ctx context.Context, m types.Message) error {
		fmt.Println(*m.Body)
		stop()
		return nil // the message is done and can be deleted
	}, func(o *sqsbuffer.ConsumeOptions) {
		o.Concurrency = 50
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output: hello
}
