package inspect

import (
	"context"
	"crypto/md5"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/search"
)

const (
	maxRedriveRate = 500 // messages per second, as SQS has it
	maxAttributes  = 10  // of a message
	largestMessage = 1 << 20
)

type redriveMessagesInput struct {
	QueueUrl                     string       `max:"2048"`
	Filter                       string       `max:"1024"`    // see package search
	MessageIds                   []string     `max:"1000,64"` // none: all
	DestinationArn               string       `max:"1024"`    // none: where each message came from; the queue itself: see editsInPlace
	Edit                         *messageEdit // of the messages that are moved
	MaxNumberOfMessagesPerSecond *int32
	DryRun                       bool   // nothing is moved; the answer is as of PeekMessages
	Cursor                       string `max:"256"` // of a dry run, as the next two
	Max                          *int32
	IncludeBody                  bool
}

// messageEdit describes the changes of messages.
type messageEdit struct {
	Body             *string                    `max:"8M"       hidden:""`
	SetAttributes    map[string]editedAttribute `max:"100,1024"`
	RemoveAttributes []string                   `max:"100,1024"`
}

type editedAttribute struct {
	DataType    string  `max:"1024"`
	StringValue *string `max:"8M"   hidden:""`
	BinaryValue []byte  `max:"8M"   hidden:""`
}

type redriveMessagesOutput struct {
	TaskHandle string          `json:",omitempty"`
	Messages   []peekedMessage // of a dry run, as the others
	Cursor     string          `json:",omitempty"`
	Scanned    *int64
	Total      *int64
}

// redriveMessages moves selected messages of a queue to the queues that they came from, or to another, by a task.
//
// It needs all permissions of a message move task in SQS: a caller that may not receive, delete and send cannot bypass
// that.
func (s *inspector) redriveMessages(
	ctx context.Context, c *protocol.Call, in *redriveMessagesInput,
) (*redriveMessagesOutput, error) {
	if service.Anonymous(c) {
		return nil, service.Denied(c)
	}
	selection, readsBody, err := s.selection(in)
	if err != nil {
		return nil, err
	}
	actions := []string{"RedriveMessages"}
	if in.Edit != nil {
		actions = append(actions, "EditMessage")
	}
	if in.DryRun {
		actions = append(actions, "PeekMessages")
		if readsBody || in.IncludeBody {
			actions = append(actions, "PeekMessageBody")
		}
	}
	source, err := s.queue(c, in.QueueUrl, actions...)
	if err != nil {
		return nil, err
	}
	moves := []string{"sqs:StartMessageMoveTask", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
	if err := s.messages.Authorize(c, subject(source.Name, source), moves...); err != nil {
		return nil, err
	}
	if err := s.allowDecrypt(c, source); err != nil {
		return nil, err
	}
	task := queue.MoveTask{ID: uuid.NewString(), Selection: selection}
	if err := s.destination(c, in.DestinationArn, source, &task); err != nil {
		return nil, err
	}
	if n := in.MaxNumberOfMessagesPerSecond; n != nil {
		if *n < 1 || *n > maxRedriveRate {
			return nil, protocol.ValidationError("MaxNumberOfMessagesPerSecond is %d; it must be between 1 and %d.", *n, maxRedriveRate)
		}
		task.Rate = int(*n)
	}
	if in.DryRun {
		return s.dryRun(ctx, c, in, source, selection)
	}
	if in.Cursor != "" || in.Max != nil || in.IncludeBody {
		return nil, protocol.ValidationError("Cursor, Max and IncludeBody are for a DryRun.")
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	switch err := s.shard.StartMove(ctx, source.ID, task); {
	case errors.Is(err, queue.ErrTaskRunning):
		return nil, protocol.ValidationError(
			"A task moves messages out of the queue already: there can be one at a time. Wait for it, or cancel it.",
		)
	case err != nil:
		return nil, failure(err)
	}
	return &redriveMessagesOutput{TaskHandle: service.TaskHandle(task.ID, source.Name.ARN())}, nil
}

// dryRun shows the messages that would be moved if none of them is in flight by then.
func (s *inspector) dryRun(
	ctx context.Context,
	c *protocol.Call,
	in *redriveMessagesInput,
	source *catalog.Queue,
	selection *queue.Selection,
) (*redriveMessagesOutput, error) {
	look := peekMessagesInput{Filter: in.Filter, States: []string{"Visible"}, Cursor: in.Cursor, Max: in.Max, IncludeBody: in.IncludeBody}
	p, _, err := look.peek()
	if err != nil {
		return nil, err
	}
	p.IDs = selection.IDs
	found, err := s.look(ctx, c, source, p)
	if err != nil {
		return nil, err
	}
	return &redriveMessagesOutput{
		Messages: found.Messages, Cursor: found.Cursor, Scanned: &found.Scanned, Total: &found.Total,
	}, nil
}

// selection returns the selection of messages, and whether it depends on bodies.
func (s *inspector) selection(in *redriveMessagesInput) (_ *queue.Selection, readsBody bool, _ error) {
	query, err := search.Parse(in.Filter)
	if err != nil {
		return nil, false, protocol.ValidationError("Filter: %s.", err)
	}
	ids, err := messageIDs(in.MessageIds)
	if err != nil {
		return nil, false, err
	}
	out := &queue.Selection{Filter: in.Filter, IDs: ids}
	if in.Edit != nil {
		out.Edit, err = s.edit(in.Edit)
	}
	return out, query.ReadsBody(), err
}

// messageIDs reads the ids of messages, each of which counts once.
func messageIDs(texts []string) ([]queue.MessageID, error) {
	var ids []queue.MessageID
	for _, text := range texts {
		id, err := uuid.Parse(text)
		if err != nil || len(text) != 36 {
			return nil, protocol.ValidationError(
				"MessageIds has %q, which is not the id of a message.", service.Shorten(text),
			)
		}
		if !slices.Contains(ids, queue.MessageID(id)) {
			ids = append(ids, queue.MessageID(id))
		}
	}
	return ids, nil
}

// edit returns an edit that makes messages which could have been sent.
func (s *inspector) edit(in *messageEdit) (*queue.Edit, error) {
	if in.Body == nil && len(in.SetAttributes)+len(in.RemoveAttributes) == 0 {
		return nil, protocol.ValidationError("Edit is empty; it must have Body, SetAttributes or RemoveAttributes.")
	}
	out := &queue.Edit{Remove: in.RemoveAttributes, MaxSize: largestMessage, MaxAttributes: maxAttributes}
	if in.Body != nil {
		switch {
		case *in.Body == "" || len(*in.Body) > largestMessage:
			return nil, protocol.ValidationError(
				"Edit.Body has %d bytes; it must have 1 to %d.", len(*in.Body), largestMessage,
			)
		case !service.ValidText(*in.Body):
			return nil, protocol.ValidationError(
				"Edit.Body has characters that a message must not have: #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF are allowed.",
			)
		}
		out.Body, out.BodyMD5 = in.Body, md5.Sum([]byte(*in.Body))
	}
	for _, name := range slices.Sorted(maps.Keys(in.SetAttributes)) {
		v := in.SetAttributes[name]
		a := queue.Attribute{Name: name, Type: v.DataType, Value: string(v.BinaryValue)}
		base, _, _ := strings.Cut(v.DataType, ".")
		if isBinary := base == "Binary"; isBinary != (v.StringValue == nil) {
			return nil, protocol.ValidationError(
				"Edit.SetAttributes: %s of type %q must have BinaryValue if the type is Binary, and StringValue otherwise.",
				service.Shorten(name),
				service.Shorten(v.DataType),
			)
		} else if !isBinary {
			a.Value = *v.StringValue
		}
		out.Set = append(out.Set, a)
	}
	return out, s.checkAttributes(out.Set)
}

// allowDecrypt returns nil if the caller may decrypt the messages of a queue. Dead letters are encrypted under the keys
// of the queues that they come from.
func (s *inspector) allowDecrypt(c *protocol.Call, from *catalog.Queue) error {
	for _, q := range append([]*catalog.Queue{from}, s.catalog.Sources(from)...) {
		if err := s.useKey(c, q, service.ToDecrypt); err != nil {
			return err
		}
	}
	return nil
}

// destination sets the destination of a task, if the caller may send there.
func (s *inspector) destination(c *protocol.Call, arn string, source *catalog.Queue, task *queue.MoveTask) error {
	if arn == "" {
		back := s.catalog.Sources(source)
		if len(back) == 0 {
			return protocol.ValidationError(
				"%s is no queue's dead-letter queue: name a destination for its messages with DestinationArn.",
				source.Name.Queue,
			)
		}
		for _, q := range back {
			if err := s.allowSend(c, q.Name, q); err != nil {
				return err
			}
			task.Sources = append(task.Sources, q.ID)
			bound(task.Selection, q)
		}
		return nil
	}
	n, ok := service.ParseQueueARN(arn)
	if !ok {
		return protocol.ValidationError("DestinationArn is %q, which is no ARN of a queue.", service.Shorten(arn))
	}
	q := s.catalog.Find(n)
	if err := s.allowSend(c, n, q); err != nil {
		return err
	}
	switch {
	case q == nil || n.Region != c.Region:
		return errNoQueue()
	case q.ID == source.ID && !editsInPlace(task.Selection):
		return protocol.ValidationError("DestinationArn is the queue that the messages are in, which takes an Edit and MessageIds.")
	case q.Attributes.FIFO != source.Attributes.FIFO:
		return protocol.ValidationError("DestinationArn must be a FIFO queue if the messages are in one, and otherwise not.")
	}
	task.Destination = q.Name.ARN()
	bound(task.Selection, q)
	return nil
}

// allowSend returns nil if the caller may send to a queue. The queue is nil if it does not exist.
func (s *inspector) allowSend(c *protocol.Call, n catalog.Name, q *catalog.Queue) error {
	if err := s.messages.Authorize(c, subject(n, q), "sqs:SendMessage"); err != nil || q == nil {
		return err
	}
	return s.useKey(c, q, service.ToEncrypt)
}

// useKey returns nil if the caller may take actions with the encryption key of a queue.
func (s *inspector) useKey(c *protocol.Call, q *catalog.Queue, actions []string) error {
	return s.keys.Authorize(c, q.Name.Account, q.Name.Region, q.Attributes.KMSKey, actions)
}

// editsInPlace reports whether messages may stay in their queue. Copies have new ids, so that ids cannot select a copy
// that comes to a shard of the queue before the part of the task there begins. A filter could.
func editsInPlace(s *queue.Selection) bool { return s.Edit != nil && len(s.IDs) > 0 }

// bound keeps edited messages below the size that a queue allows.
func bound(s *queue.Selection, q *catalog.Queue) {
	if s.Edit != nil {
		s.Edit.MaxSize = min(s.Edit.MaxSize, q.Attributes.MaximumMessageSize)
	}
}

type listRedriveTasksOutput struct {
	Tasks []redriveTask `json:",always"` // the most recent first
}

// redriveTask is a task that moves messages, of RedriveMessages or StartMessageMoveTask.
type redriveTask struct {
	TaskHandle                   string `json:",omitempty"` // while it runs
	Status                       string
	StartedTimestamp             int64  // milliseconds
	EndedTimestamp               *int64 // of a task that selects messages
	DestinationArn               string `json:",omitempty"`
	MaxNumberOfMessagesPerSecond *int32
	Selects                      bool   // it is of RedriveMessages
	Filter                       string `json:",omitempty"`
	MessageIds                   int64  // how many were given
	Edited                       bool
	Scanned                      int64 // messages that were examined
	Total                        int64 // messages to examine, counted at the start
	Moved                        int64
	Skipped                      int64  // that were selected and could not be moved
	FailureReason                string `json:",omitempty"`
	Results                      []redriveResult
}

// redriveResult is what became of a message that was selected; a task keeps the last ones.
type redriveResult struct {
	MessageId    string
	Outcome      string // Moved, NotVisible, NoSource, NoDestination or TooLarge
	NewMessageId string `json:",omitempty"`
}

// resultsShown is how many results of a task an answer has at most.
const resultsShown = 100

var outcomeNames = map[queue.MoveOutcome]string{
	queue.OutcomeMoved: "Moved", queue.OutcomeNotVisible: "NotVisible", queue.OutcomeNoSource: "NoSource",
	queue.OutcomeNoDestination: "NoDestination", queue.OutcomeTooLarge: "TooLarge",
}

// listRedriveTasks shows the last tasks that moved messages out of a queue, with more than SQS tells.
func (s *inspector) listRedriveTasks(
	ctx context.Context, c *protocol.Call, in *queueInput,
) (*listRedriveTasksOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "ListRedriveTasks")
	if err != nil {
		return nil, err
	}
	tasks, err := s.shard.Moves(ctx, q.ID)
	if err != nil {
		return nil, failure(err)
	}
	return &listRedriveTasksOutput{service.Convert(tasks, func(t queue.MoveTask) redriveTask {
		return showTask(
			q, &t,
		)
	})}, nil
}

func showTask(q *catalog.Queue, t *queue.MoveTask) redriveTask {
	out := redriveTask{
		Status: string(t.Status), StartedTimestamp: int64(t.Started), EndedTimestamp: instant(t.Ended),
		DestinationArn: t.Destination,
		Scanned:        int64(t.Moved), Total: int64(t.ToMove), Moved: int64(t.Moved), Skipped: int64(t.Skipped),
		FailureReason: t.Failure,
	}
	if t.Status == queue.MoveRunning {
		out.TaskHandle = service.TaskHandle(t.ID, q.Name.ARN())
	}
	if t.Rate != 0 {
		rate := int32(t.Rate)
		out.MaxNumberOfMessagesPerSecond = &rate
	}
	if sel := t.Selection; sel != nil {
		out.Selects, out.Filter, out.MessageIds, out.Edited, out.Scanned = true, sel.Filter, int64(
			sel.Chosen,
		), sel.Edited, int64(
			min(t.Scanned, t.ToMove),
		)
		out.Results = service.Convert(t.Results[max(0, len(t.Results)-resultsShown):], showResult)
	}
	return out
}

func showResult(r queue.MoveResult) redriveResult {
	out := redriveResult{MessageId: r.ID.String(), Outcome: outcomeNames[r.Outcome]}
	if r.Outcome == queue.OutcomeMoved {
		out.NewMessageId = r.Moved.String()
	}
	return out
}
