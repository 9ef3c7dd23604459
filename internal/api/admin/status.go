package admin

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/cluster/status"
)

// ServerStatus is how a server stands, or all nodes of a cluster together. Its size does not grow with the number of
// queues.
type ServerStatus struct {
	Cluster          string       `json:",omitempty"` // its name; empty: the server is alone
	Nodes            []NodeStatus `json:",always"`    // nodes that have answered; first the one that got the request
	Silent           []string     // nodes that have not answered: messages of the shards that they own are not counted
	Queues           int64        // of all accounts
	DeadLetterQueues int64        // of these, dead-letter queues of other queues and of subscriptions
	Messages         MessageCounts
	Alarms           int64
	InAlarm          int64            // alarms in the state ALARM
	FirstAlarms      []string         // ARNs of at most MaxFirstAlarms of these
	Problems         []status.Problem `json:",always"`
}

// MaxFirstAlarms is how many alarms a status names.
const MaxFirstAlarms = 5

// NodeStatus is how one server stands.
type NodeStatus struct {
	Name             string `json:",omitempty"` // of a node of a cluster
	Version          string
	StartedTimestamp int64  // milliseconds, as all
	DiskFreeBytes    *int64 // nil: it keeps nothing on a disk
	DiskSizeBytes    *int64
	DiskLow          bool   // nothing can be added
	LastBackup       *int64 // when the latest backup was complete that it has sent since it was started
	BackupRunning    bool
	ContinuousBackup *ContinuousBackup // nil: none
	KeyService       *KeyService       // nil: none has sealed the encryption keys
}

// KeyService is how the key service stands that has sealed the encryption keys.
type KeyService struct {
	URL             string
	OpenedTimestamp int64  // when it last opened them, in Unix milliseconds
	Failure         string `json:",omitempty"` // why it has not since
}

// ContinuousBackup is how the continuous backups of a server stand.
type ContinuousBackup struct {
	To         string // URL
	LastMoment *int64 // the last backup has everything acknowledged before; nil: unknown
	Late       bool   // the last one is too old
	Failure    string `json:",omitempty"` // why the last attempt has failed
	Standby    bool   `json:",omitempty"` // another node of the cluster makes the backups, and knows how they stand
}

// MessageCounts are the messages of all queues.
type MessageCounts struct {
	Visible     int64
	InFlight    int64
	Delayed     int64
	DeadLetters int64 // those of the other counts that are in dead-letter queues
	// OldestMessage is about one of those that were in a queue at the end of the last minute. It is nil if there were
	// none, and if the server keeps no metrics of queues. A message of a standard queue that was received three times
	// is left out, as in the metric ApproximateAgeOfOldestMessage.
	OldestMessage *OldestMessage
}

// OldestMessage is the message that has waited longest in any queue.
type OldestMessage struct {
	QueueArn      string
	SentTimestamp int64
}

// Add adds the messages of other queues.
func (c *MessageCounts) Add(o MessageCounts) {
	c.Visible += o.Visible
	c.InFlight += o.InFlight
	c.Delayed += o.Delayed
	c.DeadLetters += o.DeadLetters
	if c.OldestMessage == nil ||
		o.OldestMessage != nil && o.OldestMessage.SentTimestamp < c.OldestMessage.SentTimestamp {
		c.OldestMessage = o.OldestMessage
	}
}

func (s *Service) describeServer(ctx context.Context, c *protocol.Call, _ *service.Empty) (*ServerStatus, error) {
	if err := s.allow(c); err != nil {
		return nil, err
	}
	out, err := s.status(ctx)
	if err != nil {
		return nil, failure(err)
	}
	return out, nil
}
