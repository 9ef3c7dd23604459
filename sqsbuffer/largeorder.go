package sqsbuffer

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// groupAttribute is the system attribute that a receive from a FIFO queue requests, to keep the messages of a group in
// order.
const groupAttribute = types.MessageSystemAttributeNameMessageGroupId

// withGroups requests the group of each message of a FIFO queue.
func withGroups(params *sqs.ReceiveMessageInput) *sqs.ReceiveMessageInput {
	if params == nil || !isFIFO(aws.ToString(params.QueueUrl)) ||
		slices.Contains(params.MessageSystemAttributeNames, types.MessageSystemAttributeNameAll) ||
		slices.Contains(params.MessageSystemAttributeNames, groupAttribute) {
		return params
	}
	in := *params
	in.MessageSystemAttributeNames = append(slices.Clone(params.MessageSystemAttributeNames), groupAttribute)
	return &in
}

// behind divides messages of a FIFO queue into those that can be handled and those that follow one of their group that
// cannot.
func behind(messages []types.Message, failed []error) (free, held []types.Message) {
	stuck := make(map[string]bool)
	for i, m := range messages {
		group := m.Attributes[string(groupAttribute)]
		switch {
		case failed[i] != nil:
			stuck[group] = true
		case stuck[group]:
			held = append(held, m)
		default:
			free = append(free, m)
		}
	}
	return free, held
}

// giveBack makes messages visible again. The queue delivers them after the one ahead of them, which stays in flight
// until its timeout.
func (l *LargeClient) giveBack(ctx context.Context, queue *string, held []types.Message) {
	if len(held) == 0 {
		return
	}
	in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: queue}
	for i, m := range held {
		in.Entries = append(
			in.Entries,
			types.ChangeMessageVisibilityBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle,
			},
		)
	}
	out, err := l.ChangeMessageVisibilityBatch(ctx, in)
	if err == nil && len(out.Failed) > 0 {
		err = fmt.Errorf("%s: %s", aws.ToString(out.Failed[0].Code), aws.ToString(out.Failed[0].Message))
	}
	if err != nil {
		l.settings.OnError(
			fmt.Errorf("sqsbuffer: messages behind one without its body become visible only when their timeout has passed: %w", err),
		)
	}
}
