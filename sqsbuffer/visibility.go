package sqsbuffer

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type visibilityBatcher = batcher[sqs.ChangeMessageVisibilityInput, sqs.ChangeMessageVisibilityOutput]

func newVisibilityBatcher(client *sqs.Client, settings *Settings, crew *crew) *visibilityBatcher {
	return newBatcher(settings, crew, kind[sqs.ChangeMessageVisibilityInput, sqs.ChangeMessageVisibilityOutput]{
		operation: "ChangeMessageVisibility",
		bytes:     func(*sqs.ChangeMessageVisibilityInput) int { return 0 },
		single: func(
			ctx context.Context, input *sqs.ChangeMessageVisibilityInput,
		) (*sqs.ChangeMessageVisibilityOutput, error) {
			return client.ChangeMessageVisibility(ctx, input)
		},
		batch: func(
			ctx context.Context, queue string, inputs []*sqs.ChangeMessageVisibilityInput,
		) ([]outcome[sqs.ChangeMessageVisibilityOutput], error) {
			request := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &queue}
			for i, input := range inputs {
				request.Entries = append(request.Entries, types.ChangeMessageVisibilityBatchRequestEntry{
					Id: entryID(i), ReceiptHandle: input.ReceiptHandle, VisibilityTimeout: input.VisibilityTimeout,
				})
			}
			output, err := client.ChangeMessageVisibilityBatch(ctx, request, keepConnection)
			if err != nil {
				return nil, err
			}
			type entry = types.ChangeMessageVisibilityBatchResultEntry
			return outcomes("ChangeMessageVisibility", len(inputs), output.Failed, output.Successful,
				func(e entry) (*string, *sqs.ChangeMessageVisibilityOutput) {
					return e.Id, &sqs.ChangeMessageVisibilityOutput{ResultMetadata: output.ResultMetadata}
				}), nil
		},
	})
}
