package sqs

import (
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// The attributes of a request to SQS in the request log, in addition to its caller and its outcome.
const (
	noteQueue       = "queue"             // ARN
	noteDestination = "destination"       // ARN, of a message move task
	noteRegions     = "exists_in_regions" // where the queue is that was not found here
	noteMessages    = "messages"          // how many were sent, received, deleted or changed
	noteMessageIDs  = "message_ids"
	noteDuplicates  = "duplicates" // how many messages were acknowledged and not stored
	noteFailed      = "failed_entries"
)

// noteName notes the ARN of the queue that a request names.
func noteName(c *protocol.Call, key string, n catalog.Name) {
	if c.Notes.Wanted() && n.Queue != "" {
		n.Queue = service.Shorten(n.Queue)
		c.Notes.Set(key, n.ARN())
	}
}

// noteOtherRegions notes the other regions that have a queue with the name that was not found in this one. A queue URL
// does not name its region, so a client that uses another region than the queue's creator gets no other hint. If
// requests are not logged, the log has a line, too: once a minute, because such a client tries again.
func (s *Service) noteOtherRegions(c *protocol.Call, n catalog.Name) {
	regions := strings.Join(s.catalog.Regions(n.Account, n.Queue), ",")
	if regions == "" {
		return
	}
	if c.Notes.Set(noteRegions, regions); c.Notes.Wanted() {
		return
	}
	if s.hints.Allow(s.now()) {
		s.log.Info("a queue that was asked for exists in another region", "queue", n.ARN(), noteRegions, regions)
	}
}

func noteCount(c *protocol.Call, messages int) {
	if c.Notes.Wanted() {
		c.Notes.Set(noteMessages, messages)
	}
}

// noteFailures notes how many entries of a batch failed, if any.
func noteFailures(c *protocol.Call, entries int) {
	if entries > 0 && c.Notes.Wanted() {
		c.Notes.Set(noteFailed, entries)
	}
}

func noteSent(c *protocol.Call, sent []queue.Sent) {
	if !c.Notes.Wanted() {
		return
	}
	noteIDs(c, sent, func(m *queue.Sent) queue.MessageID { return m.ID })
	duplicates := 0
	for i := range sent {
		if sent[i].Duplicate {
			duplicates++
		}
	}
	if duplicates > 0 {
		c.Notes.Set(noteDuplicates, duplicates)
	}
}

func noteReceived(c *protocol.Call, messages []shard.Message) {
	if c.Notes.Wanted() {
		noteIDs(c, messages, func(m *shard.Message) queue.MessageID { return m.ID })
	}
}

// noteIDs notes the ids of sent or received messages. There are at most ten.
func noteIDs[M any](c *protocol.Call, messages []M, id func(*M) queue.MessageID) {
	c.Notes.Set(noteMessages, len(messages))
	ids := make([]string, len(messages))
	for i := range messages {
		ids[i] = id(&messages[i]).String()
	}
	if len(ids) > 0 {
		c.Notes.Set(noteMessageIDs, strings.Join(ids, ","))
	}
}
