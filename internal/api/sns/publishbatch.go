package sns

import (
	"context"
	"fmt"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

const (
	maxBatchEntries = 10
	maxEntryID      = 80
)

type publishEntry struct {
	Id *string `max:"1024"`
	message
}

type publishBatchInput struct {
	TopicArn                   *string        `max:"2048"`
	PublishBatchRequestEntries []publishEntry `max:"100"  wrap:"member"`
}

type publishedEntry struct {
	Id             string
	MessageId      string
	SequenceNumber string `json:",omitempty"`
}

type publishBatchOutput struct {
	Successful []publishedEntry `json:",always" wrap:"member"`
	Failed     []failedEntry    `json:",always" wrap:"member"`
}

// failedEntry is an entry that was not published, while others were.
type failedEntry struct {
	Id          string
	Code        string
	Message     string
	SenderFault bool
}

// publishBatch publishes the entries. As on AWS, an entry with a bad subject fails alone; any other mistake in an entry
// fails the whole batch, and nothing is published.
func (s *publisher) publishBatch(
	ctx context.Context, c *protocol.Call, in *publishBatchInput,
) (*publishBatchOutput, error) {
	t, err := s.find(c, in.TopicArn, "SNS:Publish")
	if err != nil {
		return nil, err
	}
	entries := in.PublishBatchRequestEntries
	if err := checkEntries(entries, t.MaxMessageSize()); err != nil {
		return nil, err
	}
	b, err := newBatch(c, t, entries)
	if err != nil {
		return nil, err
	}
	out := &publishBatchOutput{Failed: b.failed}
	if len(b.messages) == 0 {
		return out, nil
	}
	if err := s.useKey(c, t); err != nil {
		return nil, err
	}
	if err := s.take(c, t, len(b.messages)); err != nil {
		return nil, err
	}
	published, err := s.send(ctx, c, b.messages)
	if err != nil {
		return nil, err
	}
	for i, p := range published {
		out.Successful = append(out.Successful, publishedEntry{b.ids[i], p.ID.String(), sequence(p.Sequence)})
	}
	return out, nil
}

// batch holds the entries of a request, checked.
type batch struct {
	messages []*outbound
	ids      []string // of their entries
	failed   []failedEntry
}

func newBatch(c *protocol.Call, t *topic.Topic, entries []publishEntry) (*batch, error) {
	b := new(batch)
	for i := range entries {
		e := entries[i]
		wrong := e.Subject != nil && !validSubject(*e.Subject)
		if wrong {
			e.Subject = nil // so that the other members are checked
		}
		o, err := e.check(c, t, fmt.Sprintf("publishBatchRequestEntries.%d.member.", i+1))
		switch {
		case err != nil:
			return nil, err
		case wrong:
			why := errSubject()
			b.failed = append(b.failed, failedEntry{*e.Id, why.Code, why.Message, true})
		default:
			b.messages, b.ids = append(b.messages, o), append(b.ids, *e.Id)
		}
	}
	return b, nil
}

// checkEntries refuses a batch because of the number, size or ids of its entries. most is the maximum size in bytes.
func checkEntries(entries []publishEntry, most int) error {
	switch n := len(entries); {
	case n == 0:
		return errEmptyBatch()
	case n > maxBatchEntries:
		return errTooManyEntries()
	}
	var v protocol.Violations
	for i := range entries {
		v.Required(fmt.Sprintf("publishBatchRequestEntries.%d.member.id", i+1), entries[i].Id)
	}
	if err := v.Err(); err != nil {
		return err
	}
	seen, size := make(map[string]bool), 0
	for i := range entries {
		id := *entries[i].Id
		switch {
		case len(id) > maxEntryID:
			return errEntryID("is too long: %s", id)
		case !service.ValidName(id, maxEntryID):
			return errEntryID("contains an impermissible character: %s", id)
		case seen[id]:
			return errEntryIDRepeated()
		}
		seen[id] = true
		size += entries[i].length()
	}
	if size > most {
		return errBatchTooLong()
	}
	return nil
}
