package sqs

import (
	"context"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
)

// taskShard keeps its message move tasks.
type taskShard struct {
	Shard
	tasks []queue.MoveTask
}

func (s *taskShard) StartMove(_ context.Context, _ queue.ID, t queue.MoveTask) error {
	s.tasks = append(s.tasks, t)
	return nil
}

// A task may fill the queues that its starter was allowed to send to, and no others: neither a former source of these
// dead letters, nor a future one.
func TestMoveTaskCarriesWhatItMayFill(t *testing.T) {
	t.Parallel()
	cat := newCatalog(t)
	below := new(taskShard)
	s := New(Options{Catalog: cat, Shard: below})
	do := func(op, input string) {
		t.Helper()
		if _, err := invoke(t.Context(), t, s, op, input); err != nil {
			t.Fatalf("%s %s: %v", op, input, err)
		}
	}
	redriven := `"Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"` + arnOf("letters") +
		`\",\"maxReceiveCount\":1}"}`
	do("CreateQueue", `{"QueueName":"letters"}`)
	do("CreateQueue", `{"QueueName":"payroll",`+redriven+`}`)
	do("CreateQueue", `{"QueueName":"mine",`+redriven+`}`)
	do("CreateQueue", `{"QueueName":"yours",`+redriven+`}`)
	do("SetQueueAttributes", `{"QueueUrl":"payroll","Attributes":{"RedrivePolicy":""}}`)
	do("StartMessageMoveTask", `{"SourceArn":"`+arnOf("letters")+`"}`)
	do("StartMessageMoveTask", `{"SourceArn":"`+arnOf("letters")+`","DestinationArn":"`+arnOf("payroll")+`"}`)
	id := func(name string) queue.ID { return queueNamed(cat, name).ID }
	if got := below.tasks[0]; got.Destination != "" || !slices.Equal(got.Sources, []queue.ID{id("mine"), id("yours")}) {
		t.Errorf("the task without a destination is %+v", got)
	}
	if got := below.tasks[1]; got.Destination != arnOf("payroll") || got.Sources != nil {
		t.Errorf("the task with a destination is %+v", got)
	}
}
