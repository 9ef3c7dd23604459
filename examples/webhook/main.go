// Command webhook subscribes itself to a topic: it confirms the subscription, verifies the signature of each message,
// and ends when its own message has arrived. The server must be allowed to call it: --egress-allow
// 127.0.0.1.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sns"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// webhook is an endpoint that a topic delivers to.
type webhook struct {
	topic     string // its ARN
	verifier  verifier
	confirmed chan struct{}
	messages  chan string
}

// ServeHTTP takes a message. A message that is not answered with 200 is delivered again.
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return
	}
	var m message
	if err := json.Unmarshal(text, &m); err != nil || m.TopicArn != h.topic {
		http.Error(w, "not a message of this topic", http.StatusBadRequest)
		return
	}
	if err := h.verifier.verify(&m); err != nil {
		log.Print(err)
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	switch m.Type {
	case "SubscriptionConfirmation":
		if err := h.confirm(&m); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	case "Notification":
		h.messages <- m.Message
	}
}

// confirm follows the link by which an endpoint agrees to get messages.
func (h *webhook) confirm(m *message) error {
	answer, err := http.Get(m.SubscribeURL)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("confirm the subscription: %s", answer.Status)
	}
	h.confirmed <- struct{}{}
	return nil
}

func run(ctx context.Context) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	client := sns.NewFromConfig(cfg)
	topic, err := client.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("news")})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	hook := &webhook{
		topic:     *topic.TopicArn,
		verifier:  verifier{server: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_SNS"), os.Getenv("AWS_ENDPOINT_URL"))},
		confirmed: make(chan struct{}, 1), messages: make(chan string),
	}
	go func() { log.Print(http.Serve(listener, hook)) }()

	subscription, err := client.Subscribe(ctx, &sns.SubscribeInput{
		TopicArn: topic.TopicArn, Protocol: aws.String("http"), ReturnSubscriptionArn: true,
		Endpoint: aws.String("http://" + listener.Addr().String() + "/"),
	})
	if err != nil {
		return err
	}
	<-hook.confirmed
	if _, err := client.Publish(ctx, &sns.PublishInput{
		TopicArn: topic.TopicArn, Message: aws.String("hello"),
	}); err != nil {
		return err
	}
	fmt.Println(<-hook.messages)
	_, err = client.Unsubscribe(ctx, &sns.UnsubscribeInput{SubscriptionArn: subscription.SubscriptionArn})
	return err
}
