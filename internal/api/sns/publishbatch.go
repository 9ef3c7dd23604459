package sns

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

const maxBatchEntries = 10

type publishEntry struct {
	Id *string `max:"1024"`
	message
}

type publishBatchInput struct {
	TopicArn                   *string        `max:"2048"`
	PublishBatchRequestEntries []publishEntry `wrap:"member" max:"100"`
}

type publishedEntry struct {
	Id             string
	MessageId      string
	SequenceNumber string `json:",omitempty"`
}

type failedEntry struct {
	Id          string
	Code        string
	Message     string
	SenderFault bool
}

type publishBatchOutput struct {
	Successful []publishedEntry `json:",always" wrap:"member"`
	Failed     []failedEntry    `json:",always" wrap:"member"`
}

// publishBatch publishes the entries of which nothing is wrong, all of them or none.
func (s *Service) publishBatch(ctx context.Context, c *protocol.Call, in *publishBatchInput) (*publishBatchOutput, error) {
	t, err := s.find(c, in.TopicArn, "SNS:Publish")
	if err != nil {
		return nil, err
	}
	if err := checkEntries(in.PublishBatchRequestEntries); err != nil {
		return nil, err
	}
	out := new(publishBatchOutput)
	messages := out.check(c, t, in.PublishBatchRequestEntries)
	if len(out.Failed) > 0 {
		c.Notes.Set(noteFailed, len(out.Failed))
	}
	if len(messages) == 0 {
		return out, nil
	}
	published, err := s.send(ctx, c, messages)
	if err != nil {
		return nil, err
	}
	for i, p := range published {
		out.Successful[i].MessageId, out.Successful[i].SequenceNumber = p.ID.String(), sequence(p.Sequence)
	}
	return out, nil
}

// check returns the messages of the entries of which nothing is wrong, and has an entry in the answer for each entry.
func (out *publishBatchOutput) check(c *protocol.Call, t *topic.Topic, entries []publishEntry) (messages []*outbound) {
	for i := range entries {
		o, err := entries[i].check(c, t)
		if err != nil {
			e := protocol.AsError(err)
			out.Failed = append(out.Failed, failedEntry{*entries[i].Id, e.Code, e.Message, e.Status < 500})
			continue
		}
		messages = append(messages, o)
		out.Successful = append(out.Successful, publishedEntry{Id: *entries[i].Id})
	}
	return messages
}

// checkEntries refuses a batch as a whole.
func checkEntries(entries []publishEntry) error {
	switch n := len(entries); {
	case n == 0:
		return errEmptyBatch()
	case n > maxBatchEntries:
		return errTooManyEntries(n)
	}
	seen, size := make(map[string]bool), 0
	for _, e := range entries {
		switch {
		case e.Id == nil || !service.ValidName(*e.Id, 80):
			return errEntryID()
		case seen[*e.Id]:
			return errEntryIDRepeated(*e.Id)
		}
		seen[*e.Id] = true
		size += e.length()
	}
	if size > maxMessageSize {
		return errBatchTooLong(size)
	}
	return nil
}
