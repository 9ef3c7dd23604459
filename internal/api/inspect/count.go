package inspect

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/search"
)

type countMessagesInput struct {
	QueueUrl string   `max:"2048"`
	By       string   `max:"512"`  // the key, see search.Key
	States   []string `max:"3,16"` // none: all
	Filter   string   `max:"1024"`
	Cursor   string   `max:"256"` // of the answer before; empty: from the beginning
}

type countMessagesOutput struct {
	Groups  []messageCount `json:",always"`
	Cursor  string         `json:",omitempty"` // where to continue; empty: this was the end of the queue
	Scanned int64          // messages that this call has read
	Found   int64          // of these, selected by the filter
	Total   int64          // messages that the queue has in these states
}

// messageCount is the number of messages with a value among those that a call has read.
type messageCount struct {
	Value           *string // absent: these messages have none
	Cut             bool    `json:",omitempty"` // Value is only the beginning, or an object or a list
	Unreadable      bool    `json:",omitempty"` // these messages cannot be decrypted: their value is not known
	Filter          string  `json:",omitempty"` // selects these messages; absent: no filter can
	Messages        int64
	NewestTimestamp int64 // when the newest of them was sent
}

// countMessages counts the messages of a queue by one of their values, such as dead letters by an error. It changes
// nothing, and reads for a bounded time: the client adds up the groups of several calls, and may stop at any time. A
// key or a filter that reads bodies needs the permission to see bodies.
func (s *inspector) countMessages(
	ctx context.Context,
	c *protocol.Call,
	in *countMessagesInput,
) (*countMessagesOutput, error) {
	if service.Anonymous(c) {
		return nil, service.Denied(c)
	}
	look := &peekMessagesInput{States: in.States, Filter: in.Filter, Cursor: in.Cursor}
	p, readsBody, err := look.peek()
	if err != nil {
		return nil, err
	}
	key, bad := search.ParseKey(in.By)
	actions := []string{"PeekMessages"}
	if readsBody || bad == nil && key.ReadsBody() {
		actions = append(actions, "PeekMessageBody")
	}
	q, err := s.queue(c, in.QueueUrl, actions...)
	switch {
	case err != nil:
		return nil, err
	case bad != nil:
		return nil, protocol.ValidationError("By: %s.", bad)
	}
	found, err := s.shard.Census(ctx, q.ID, queue.Census{
		States: p.States, Filter: p.Filter, Key: in.By, After: p.After,
	})
	if err != nil {
		return nil, failure(err)
	}
	n, err := s.shard.Counts(ctx, q.ID)
	if err != nil {
		return nil, failure(err)
	}
	c.Notes.Set("messages", int(found.Found))
	return showCensus(&found, inStates(n, p.States)), nil
}

func showCensus(found *queue.CensusResult, total uint64) *countMessagesOutput {
	out := &countMessagesOutput{
		Groups:  service.Convert(found.Shares, showShare),
		Scanned: int64(found.Scanned), Found: int64(found.Found), Total: int64(total),
	}
	if found.More {
		out.Cursor = cursorText(found.Next.Encode())
	}
	return out
}

func showShare(s queue.Share) messageCount {
	out := messageCount{
		Cut: s.Cut, Unreadable: s.Unreadable, Filter: s.Term, Messages: int64(s.Messages),
		NewestTimestamp: int64(s.Newest),
	}
	if !s.Missing && !s.Unreadable {
		out.Value = &s.Value
	}
	return out
}
