package sqsbuffer

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type sendBatcher = batcher[sqs.SendMessageInput, sqs.SendMessageOutput]

func newSendBatcher(client *sqs.Client, settings *Settings, crew *crew) *sendBatcher {
	verified := !client.Options().DisableMessageChecksumValidation
	protocol := encoded(client.Options().Protocol)
	forBatch := func(o *sqs.Options) {
		// With checksums the SDK fails a whole batch for one message's mismatch. Here each message is verified
		// separately.
		o.DisableMessageChecksumValidation = true
		o.Protocol = protocol
		keepConnection(o)
	}
	check := func(input *sqs.SendMessageInput, output *sqs.SendMessageOutput) error {
		if !verified {
			return nil
		}
		return verify(input, output)
	}
	return newBatcher(settings, crew, kind[sqs.SendMessageInput, sqs.SendMessageOutput]{
		operation: "SendMessage",
		ordered:   true,
		bytes:     messageBytes,
		single: func(ctx context.Context, input *sqs.SendMessageInput) (*sqs.SendMessageOutput, error) {
			output, err := client.SendMessage(ctx, input, keepConnection)
			if err != nil {
				return nil, err
			}
			return output, check(input, output)
		},
		batch: func(
			ctx context.Context, queue string, inputs []*sqs.SendMessageInput,
		) ([]outcome[sqs.SendMessageOutput], error) {
			request := &sqs.SendMessageBatchInput{QueueUrl: &queue}
			for i, input := range inputs {
				request.Entries = append(request.Entries, types.SendMessageBatchRequestEntry{
					Id:                      entryID(i),
					MessageBody:             input.MessageBody,
					DelaySeconds:            input.DelaySeconds,
					MessageAttributes:       input.MessageAttributes,
					MessageSystemAttributes: input.MessageSystemAttributes,
					MessageDeduplicationId:  input.MessageDeduplicationId,
					MessageGroupId:          input.MessageGroupId,
				})
			}
			output, err := client.SendMessageBatch(ctx, request, forBatch)
			if err != nil {
				return nil, err
			}
			all := outcomes("SendMessage", len(inputs), output.Failed, output.Successful,
				func(entry types.SendMessageBatchResultEntry) (*string, *sqs.SendMessageOutput) {
					return entry.Id, &sqs.SendMessageOutput{
						MessageId:                    entry.MessageId,
						MD5OfMessageBody:             entry.MD5OfMessageBody,
						MD5OfMessageAttributes:       entry.MD5OfMessageAttributes,
						MD5OfMessageSystemAttributes: entry.MD5OfMessageSystemAttributes,
						SequenceNumber:               entry.SequenceNumber,
						ResultMetadata:               output.ResultMetadata,
					}
				})
			for i, o := range all {
				if o.err == nil {
					all[i].err = check(inputs[i], o.output)
				}
			}
			return all, nil
		},
	})
}

// sendable reports whether a message can be sent in a batch: the SDK would refuse the whole batch for a missing
// required field.
func sendable(input *sqs.SendMessageInput) bool {
	if input == nil || input.QueueUrl == nil || input.MessageBody == nil {
		return false
	}
	for _, a := range input.MessageSystemAttributes {
		if a.DataType == nil {
			return false
		}
	}
	return attributesComplete(input.MessageAttributes)
}

func attributesComplete(attributes map[string]types.MessageAttributeValue) bool {
	for _, a := range attributes {
		if a.DataType == nil {
			return false
		}
	}
	return true
}

// copyOf copies the current input, because a caller that leaves may change it.
func copyOf(input *sqs.SendMessageInput) *sqs.SendMessageInput {
	c := *input
	c.MessageAttributes = maps.Clone(input.MessageAttributes)
	c.MessageSystemAttributes = maps.Clone(input.MessageSystemAttributes)
	return &c
}

// messageBytes returns the size of a message as the service counts it.
func messageBytes(input *sqs.SendMessageInput) int {
	n := len(*input.MessageBody)
	for name, a := range input.MessageAttributes {
		n += len(name) + len(*a.DataType) + len(a.BinaryValue)
		if a.StringValue != nil {
			n += len(*a.StringValue)
		}
	}
	return n
}
