package sns

import (
	"context"
	"fmt"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
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
	Failed     []struct{}       `json:",always" wrap:"member"` // none: an entry does not fail alone
}

// publishBatch publishes all entries or none: a mistake in one of them is the answer to the batch.
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
	messages := make([]*outbound, len(entries))
	for i := range entries {
		if messages[i], err = entries[i].check(
			c, t, fmt.Sprintf("publishBatchRequestEntries.%d.member.", i+1),
		); err != nil {
			return nil, err
		}
	}
	if err := s.useKey(c, t); err != nil {
		return nil, err
	}
	if err := s.take(c, t, len(messages)); err != nil {
		return nil, err
	}
	published, err := s.send(ctx, c, messages)
	if err != nil {
		return nil, err
	}
	out := new(publishBatchOutput)
	for i, p := range published {
		out.Successful = append(out.Successful, publishedEntry{*entries[i].Id, p.ID.String(), sequence(p.Sequence)})
	}
	return out, nil
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
