package sqs

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
)

const (
	maxMoveRate   = 500 // messages per second
	maxMoveListed = 10
)

// arnTarget returns the name of the queue in an ARN parameter.
func arnTarget(parameter, arn string) (catalog.Name, error) {
	if arn == "" {
		return catalog.Name{}, protocol.MissingParameter(parameter)
	}
	n, ok := service.ParseQueueARN(arn)
	if !ok {
		return n, protocol.InvalidParameterValue(
			"You must use this format to specify the %s: arn:<partition>:<service>:<region>:<account-id>:<resource-id>",
			parameter,
		)
	}
	return n, nil
}

// moveActions are the actions that a caller needs permission for on the source queue of a move: the action itself,
// receive, and delete.
func moveActions(action string) []string {
	return []string{action, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
}

// moveSource finds the source queue of a move task.
func (s *Service) moveSource(c *protocol.Call, n catalog.Name, fault error, action string) (*catalog.Queue, error) {
	noteName(c, noteQueue, n)
	q, err := s.allowByName(c, n, fault, moveActions(action)...)
	if err != nil {
		return nil, err
	}
	if q == nil || n.Region != c.Region {
		return nil, errNoARN("SourceArn")
	}
	return q, nil
}

// moveDestinations checks that the caller may send to the destination queue of a move task or, if none is named, to all
// of sources, the queues with their dead letters in the task's queue. The result is nil if no queue is named or if it
// does not exist.
func (s *Service) moveDestinations(c *protocol.Call, sources []*catalog.Queue, arn string) (*catalog.Queue, error) {
	if arn != "" {
		n, fault := arnTarget("DestinationArn", arn)
		noteName(c, noteDestination, n)
		q, err := s.allowByName(c, n, fault, "sqs:SendMessage")
		if err != nil || q == nil || n.Region != c.Region {
			return nil, err
		}
		return q, s.useKeyToMove(c, q, service.ToEncrypt)
	}
	for _, q := range sources {
		if err := s.authorize(c, resource{q.Name, q}, tagging{}, "sqs:SendMessage"); err != nil {
			return nil, err
		}
		if err := s.useKeyToMove(c, q, service.ToEncrypt); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// allowDecrypt checks that the caller may decrypt the messages of a move task: those in its queue, and dead letters,
// which are encrypted under the keys of the queues that they come from.
func (s *Service) allowDecrypt(c *protocol.Call, letters *catalog.Queue, sources []*catalog.Queue) error {
	for _, q := range append([]*catalog.Queue{letters}, sources...) {
		if err := s.useKeyToMove(c, q, service.ToDecrypt); err != nil {
			return err
		}
	}
	return nil
}

// useKeyToMove returns nil if the caller may take actions with the encryption key of a queue. The model of SQS gives
// move tasks no errors of KMS, so this one is refused as any other without permission is.
func (s *Service) useKeyToMove(c *protocol.Call, q *catalog.Queue, actions []string) error {
	return s.keys.Authorize(c, q.Name.Account, q.Name.Region, q.Attributes.KMSKey, actions)
}

func errNoARN(parameter string) error {
	return errResourceNotFound("The resource that you specified for the %s parameter doesn't exist.", parameter)
}

type startMessageMoveTaskInput struct {
	SourceArn                    string `max:"1024"`
	DestinationArn               string `max:"1024"`
	MaxNumberOfMessagesPerSecond *int32
}

type startMessageMoveTaskOutput struct {
	TaskHandle string
}

func (s *Service) startMessageMoveTask(
	ctx context.Context,
	c *protocol.Call,
	in *startMessageMoveTaskInput,
) (*startMessageMoveTaskOutput, error) {
	n, fault := arnTarget("SourceArn", in.SourceArn)
	source, err := s.moveSource(c, n, fault, "sqs:StartMessageMoveTask")
	if err != nil {
		return nil, err
	}
	sources := s.catalog.Sources(source)
	if err := s.allowDecrypt(c, source, sources); err != nil {
		return nil, err
	}
	to, err := s.moveDestinations(c, sources, in.DestinationArn)
	if err != nil {
		return nil, err
	}
	task := queue.MoveTask{ID: uuid.NewString()}
	if n := in.MaxNumberOfMessagesPerSecond; n != nil {
		if *n < 1 || *n > maxMoveRate {
			return nil, protocol.InvalidParameterValue(
				"Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.",
			)
		}
		task.Rate = int(*n)
	}
	if len(sources) == 0 {
		return nil, protocol.InvalidParameterValue("Source queue must be configured as a Dead Letter Queue.")
	}
	if in.DestinationArn == "" {
		// A message can come from a queue that has another dead-letter queue now, or had none when the caller was
		// authorized. The task must not move it there.
		for _, q := range sources {
			task.Sources = append(task.Sources, q.ID)
		}
	} else {
		switch {
		case to == nil:
			return nil, errNoARN("DestinationArn")
		case to.ID == source.ID:
			return nil, protocol.InvalidParameterValue("Source queue arn and destination queue arn cannot be the same.")
		case to.Attributes.FIFO != source.Attributes.FIFO:
			return nil, protocol.InvalidParameterValue("Source queue and destination queue must be of the same type.")
		}
		task.Destination = to.Name.ARN()
	}
	if err := s.room.check(); err != nil {
		return nil, err
	}
	switch err := s.shard.StartMove(ctx, source.ID, task); {
	case errors.Is(err, queue.ErrTaskRunning):
		return nil, protocol.InvalidParameterValue(
			"There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
		)
	case err != nil:
		return nil, failure(err, source)
	}
	return &startMessageMoveTaskOutput{TaskHandle: handleOf(task.ID, source)}, nil
}

func handleOf(task string, source *catalog.Queue) string {
	return service.TaskHandle(task, source.Name.ARN())
}

// taskTarget returns the name of the queue and the id of the task in a TaskHandle.
func taskTarget(handle string) (n catalog.Name, id string, _ error) {
	if handle == "" {
		return n, "", protocol.MissingParameter("TaskHandle")
	}
	id, source, ok := service.ParseTaskHandle(handle)
	if ok {
		n, ok = service.ParseQueueARN(source)
	}
	if !ok {
		return n, "", protocol.InvalidParameterValue("Value for parameter TaskHandle is invalid.")
	}
	return n, id, nil
}

type cancelMessageMoveTaskInput struct {
	TaskHandle string `max:"4096"`
}

type cancelMessageMoveTaskOutput struct {
	ApproximateNumberOfMessagesMoved int64
}

func (s *Service) cancelMessageMoveTask(
	ctx context.Context,
	c *protocol.Call,
	in *cancelMessageMoveTaskInput,
) (*cancelMessageMoveTaskOutput, error) {
	n, id, fault := taskTarget(in.TaskHandle)
	source, err := s.moveSource(c, n, fault, "sqs:CancelMessageMoveTask")
	if err != nil {
		return nil, err
	}
	task, err := s.shard.CancelMove(ctx, source.ID, id)
	switch {
	case errors.Is(err, queue.ErrNoTask):
		return nil, errResourceNotFound("Task does not exist.")
	case err != nil:
		return nil, failure(err, source)
	}
	return &cancelMessageMoveTaskOutput{ApproximateNumberOfMessagesMoved: int64(task.Moved)}, nil
}

type listMessageMoveTasksInput struct {
	SourceArn  string `max:"1024"`
	MaxResults *int32
}

type listMessageMoveTasksOutput struct {
	Results []moveTask `query:"ListMessageMoveTasksResultEntry"`
}

type moveTask struct {
	TaskHandle                        string `json:",omitempty"`
	Status                            string
	SourceArn                         string
	DestinationArn                    string `json:",omitempty"`
	MaxNumberOfMessagesPerSecond      *int32
	ApproximateNumberOfMessagesMoved  int64
	ApproximateNumberOfMessagesToMove *int64
	FailureReason                     string `json:",omitempty"`
	StartedTimestamp                  int64  // milliseconds
}

func (s *Service) listMessageMoveTasks(
	ctx context.Context,
	c *protocol.Call,
	in *listMessageMoveTasksInput,
) (*listMessageMoveTasksOutput, error) {
	n, fault := arnTarget("SourceArn", in.SourceArn)
	source, err := s.moveSource(c, n, fault, "sqs:ListMessageMoveTasks")
	if err != nil {
		return nil, err
	}
	most := 1
	if n := in.MaxResults; n != nil {
		if *n < 1 || *n > maxMoveListed {
			return nil, errValue(*n, "MaxResults", "Must be between 1 and 10, if provided.")
		}
		most = int(*n)
	}
	tasks, err := s.shard.Moves(ctx, source.ID)
	if err != nil {
		return nil, failure(err, source)
	}
	out := &listMessageMoveTasksOutput{}
	for _, t := range tasks[:min(most, len(tasks))] {
		toMove := int64(t.ToMove)
		entry := moveTask{
			Status: string(t.Status), SourceArn: source.Name.ARN(), DestinationArn: t.Destination,
			ApproximateNumberOfMessagesMoved: int64(t.Moved), ApproximateNumberOfMessagesToMove: &toMove,
			FailureReason: t.Failure, StartedTimestamp: int64(t.Started),
		}
		if t.Rate != 0 {
			rate := int32(t.Rate)
			entry.MaxNumberOfMessagesPerSecond = &rate
		}
		if t.Status == queue.MoveRunning {
			entry.TaskHandle = handleOf(t.ID, source)
		}
		out.Results = append(out.Results, entry)
	}
	return out, nil
}
