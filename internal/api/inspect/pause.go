package inspect

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

type messageGroupsInput struct {
	QueueUrl        string   `max:"2048"`
	MessageGroupIds []string `max:"100,512"`
}

type pausedGroupsOutput struct {
	PausedMessageGroupIds []string `json:",always"` // all of the queue, sorted
}

// pauseMessageGroups pauses message groups of a FIFO queue, even groups without messages: receives return no messages
// of them. The queue still accepts messages of a paused group, messages in flight can be deleted, and messages that
// become visible again wait.
func (s *inspector) pauseMessageGroups(
	ctx context.Context,
	c *protocol.Call,
	in *messageGroupsInput,
) (*pausedGroupsOutput, error) {
	return s.changePauses(ctx, c, in, "PauseMessageGroups", s.catalog.PauseGroups)
}

// resumeMessageGroups resumes paused message groups.
func (s *inspector) resumeMessageGroups(
	ctx context.Context,
	c *protocol.Call,
	in *messageGroupsInput,
) (*pausedGroupsOutput, error) {
	return s.changePauses(ctx, c, in, "ResumeMessageGroups", s.catalog.ResumeGroups)
}

func (s *inspector) changePauses(
	ctx context.Context,
	c *protocol.Call,
	in *messageGroupsInput,
	action string,
	change func(context.Context, *catalog.Queue, []string) (*catalog.Queue, error),
) (*pausedGroupsOutput, error) {
	q, err := s.queue(c, in.QueueUrl, action)
	if err != nil {
		return nil, err
	}
	if !q.Attributes.FIFO {
		return nil, errNotFIFO(q)
	}
	if err := checkGroups(in.MessageGroupIds); err != nil {
		return nil, err
	}
	switch q, err = change(ctx, q, in.MessageGroupIds); {
	case errors.Is(err, catalog.ErrNotFound):
		return nil, errNoQueue()
	case errors.Is(err, catalog.ErrTooManyPaused):
		return nil, protocol.ValidationError(
			"The queue would have more than %d paused message groups: resume some first.", catalog.MaxPausedGroups,
		)
	case err != nil:
		return nil, failure(err)
	}
	return &pausedGroupsOutput{PausedMessageGroupIds: q.PausedGroups}, nil
}

// checkGroups refuses names that no message group has.
func checkGroups(names []string) error {
	if len(names) == 0 {
		return protocol.ValidationError("MessageGroupIds is empty; it must have 1 to 100 ids.")
	}
	for _, name := range names {
		if !service.ValidID(name) {
			return protocol.ValidationError(
				"MessageGroupIds has %.128q; an id has 1 to 128 alphanumeric and punctuation characters.", name,
			)
		}
	}
	return nil
}

func errNotFIFO(q *catalog.Queue) *protocol.Error {
	return protocol.ValidationError(
		"The queue %s is not a FIFO queue: it does not keep the order of message groups.", q.Name.Queue,
	)
}
