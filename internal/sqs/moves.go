package sqs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/protocol"
	"github.com/sluicemq/sluice/internal/queue"
)

const (
	maxMoveRate   = 500 // messages per second
	maxMoveListed = 10
)

// taskHandle is what a TaskHandle holds, as base64 of its JSON.
type taskHandle struct {
	TaskID    string `json:"taskId"`
	SourceARN string `json:"sourceArn"`
}

// arnQueue finds the queue that an ARN parameter names. The ARN of another
// account's queue is refused as access to it would be.
func (s *Service) arnQueue(ctx context.Context, c *protocol.Call, parameter, arn, action string) (*catalog.Queue, error) {
	n, ok := parseARN(arn)
	if !ok {
		return nil, unlessAnonymous(c, protocol.InvalidParameterValue("You must use this format to specify the %s: arn:<partition>:<service>:<region>:<account-id>:<resource-id>", parameter))
	}
	q, err := s.find(ctx, c, n, action)
	if err != nil {
		return nil, err
	}
	if q == nil || n.Region != c.Region {
		return nil, errNoARN(parameter)
	}
	return q, nil
}

func errNoARN(parameter string) *protocol.Error {
	return errResourceNotFound("The resource that you specified for the %s parameter doesn't exist.", parameter)
}

type startMessageMoveTaskInput struct {
	SourceArn                    string
	DestinationArn               string
	MaxNumberOfMessagesPerSecond *int32
}

type startMessageMoveTaskOutput struct {
	TaskHandle string
}

func (s *Service) startMessageMoveTask(ctx context.Context, c *protocol.Call, in *startMessageMoveTaskInput) (*startMessageMoveTaskOutput, error) {
	if in.SourceArn == "" {
		return nil, unlessAnonymous(c, protocol.MissingParameter("SourceArn"))
	}
	source, err := s.arnQueue(ctx, c, "SourceArn", in.SourceArn, "StartMessageMoveTask")
	if err != nil {
		return nil, err
	}
	task := queue.MoveTask{ID: uuid.NewString()}
	if n := in.MaxNumberOfMessagesPerSecond; n != nil {
		if *n < 1 || *n > maxMoveRate {
			return nil, protocol.InvalidParameterValue("Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.")
		}
		task.Rate = int(*n)
	}
	if len(s.sources(source)) == 0 {
		return nil, protocol.InvalidParameterValue("Source queue must be configured as a Dead Letter Queue.")
	}
	if in.DestinationArn != "" {
		to, err := s.arnQueue(ctx, c, "DestinationArn", in.DestinationArn, "SendMessage")
		if err != nil {
			return nil, err
		}
		switch {
		case to.ID == source.ID:
			return nil, protocol.InvalidParameterValue("Source queue arn and destination queue arn cannot be the same.")
		case to.Attributes.FIFO != source.Attributes.FIFO:
			return nil, protocol.InvalidParameterValue("Source queue and destination queue must be of the same type.")
		}
		task.Destination = to.Name.ARN()
	}
	if err := s.checkRoom(); err != nil {
		return nil, err
	}
	switch err := s.shard.StartMove(ctx, source.ID, task); {
	case errors.Is(err, queue.ErrTaskRunning):
		return nil, protocol.InvalidParameterValue("There is already a task running. Only one active task is allowed for a source queue arn at a given time.")
	case err != nil:
		return nil, failure(err, source)
	}
	return &startMessageMoveTaskOutput{TaskHandle: handleOf(task.ID, source)}, nil
}

func handleOf(task string, source *catalog.Queue) string {
	return base64.StdEncoding.EncodeToString([]byte(mustJSON(taskHandle{task, source.Name.ARN()})))
}

type cancelMessageMoveTaskInput struct {
	TaskHandle string
}

type cancelMessageMoveTaskOutput struct {
	ApproximateNumberOfMessagesMoved int64
}

func (s *Service) cancelMessageMoveTask(ctx context.Context, c *protocol.Call, in *cancelMessageMoveTaskInput) (*cancelMessageMoveTaskOutput, error) {
	if in.TaskHandle == "" {
		return nil, unlessAnonymous(c, protocol.MissingParameter("TaskHandle"))
	}
	var h taskHandle
	b, err := base64.StdEncoding.DecodeString(in.TaskHandle)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return nil, unlessAnonymous(c, protocol.InvalidParameterValue("Value for parameter TaskHandle is invalid."))
	}
	if _, ok := parseARN(h.SourceARN); !ok || h.TaskID == "" {
		return nil, unlessAnonymous(c, protocol.InvalidParameterValue("Value for parameter TaskHandle is invalid."))
	}
	source, err := s.arnQueue(ctx, c, "SourceArn", h.SourceARN, "CancelMessageMoveTask")
	if err != nil {
		return nil, err
	}
	task, err := s.shard.CancelMove(ctx, source.ID, h.TaskID)
	switch {
	case errors.Is(err, queue.ErrNoTask):
		return nil, errResourceNotFound("Task does not exist.")
	case err != nil:
		return nil, failure(err, source)
	}
	return &cancelMessageMoveTaskOutput{ApproximateNumberOfMessagesMoved: int64(task.Moved)}, nil
}

type listMessageMoveTasksInput struct {
	SourceArn  string
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

func (s *Service) listMessageMoveTasks(ctx context.Context, c *protocol.Call, in *listMessageMoveTasksInput) (*listMessageMoveTasksOutput, error) {
	if in.SourceArn == "" {
		return nil, unlessAnonymous(c, protocol.MissingParameter("SourceArn"))
	}
	source, err := s.arnQueue(ctx, c, "SourceArn", in.SourceArn, "ListMessageMoveTasks")
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
