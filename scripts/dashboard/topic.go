package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// topic makes a topic with two queues, of which the second wants one message in five. It returns the topic and the
// queues.
func (s *scene) topic(ctx context.Context) (topic string, queues []string, err error) {
	made, err := s.publisher.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("shipments")})
	if err != nil {
		return "", nil, err
	}
	for name, filter := range map[string]string{"parcels": "", "returns": `{"kind":["return"]}`} {
		queue, err := s.queue(ctx, name, map[string]string{"Policy": `{"Version":"2012-10-17","Statement":[{
			"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*"
		}]}`})
		if err != nil {
			return "", nil, err
		}
		got, err := s.client.GetQueueAttributes(
			ctx,
			&sqs.GetQueueAttributesInput{QueueUrl: &queue, AttributeNames: []sqsAttribute{"QueueArn"}},
		)
		if err != nil {
			return "", nil, err
		}
		in := &sns.SubscribeInput{
			TopicArn: made.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(got.Attributes["QueueArn"]),
		}
		if filter != "" {
			in.Attributes = map[string]string{"FilterPolicy": filter}
		}
		if _, err := s.publisher.Subscribe(ctx, in); err != nil {
			return "", nil, errors.Join(errors.New(name), err)
		}
		queues = append(queues, queue)
	}
	return *made.TopicArn, queues, nil
}

// publish publishes about this many messages a second.
func (s *scene) publish(ctx context.Context, topic string, rate float64) {
	for ctx.Err() == nil {
		kind := "parcel"
		if rand.IntN(5) == 0 {
			kind = "return"
		}
		_, err := s.publisher.Publish(
			ctx,
			&sns.PublishInput{
				TopicArn: &topic,
				Message:  aws.String("on its way"),
				MessageAttributes: map[string]types.MessageAttributeValue{
					"kind": {DataType: aws.String("String"), StringValue: &kind},
				},
			},
		)
		if s.failed(ctx, err) {
			return
		}
		wait(ctx, time.Duration(float64(time.Second)/rate*(0.5+rand.Float64())))
	}
}
