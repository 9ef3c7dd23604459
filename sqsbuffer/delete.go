package sqsbuffer

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type deleteBatcher = batcher[sqs.DeleteMessageInput, sqs.DeleteMessageOutput]

func newDeleteBatcher(client *sqs.Client, settings *Settings, crew *crew) *deleteBatcher {
	return newBatcher(settings, crew, kind[sqs.DeleteMessageInput, sqs.DeleteMessageOutput]{
		operation: "DeleteMessage",
		bytes:     func(*sqs.DeleteMessageInput) int { return 0 },
		single: func(ctx context.Context, input *sqs.DeleteMessageInput) (*sqs.DeleteMessageOutput, error) {
			return client.DeleteMessage(ctx, input)
		},
		batch: func(
			ctx context.Context, queue string, inputs []*sqs.DeleteMessageInput,
		) ([]outcome[sqs.DeleteMessageOutput], error) {
			request := &sqs.DeleteMessageBatchInput{QueueUrl: &queue}
			for i, input := range inputs {
				request.Entries = append(request.Entries, types.DeleteMessageBatchRequestEntry{
					Id: entryID(i), ReceiptHandle: input.ReceiptHandle,
				})
			}
			output, err := client.DeleteMessageBatch(ctx, request, keepConnection)
			if err != nil {
				return nil, err
			}
			return outcomes("DeleteMessage", len(inputs), output.Failed, output.Successful,
				func(entry types.DeleteMessageBatchResultEntry) (*string, *sqs.DeleteMessageOutput) {
					return entry.Id, &sqs.DeleteMessageOutput{ResultMetadata: output.ResultMetadata}
				}), nil
		},
	})
}
