package workload

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// Service is the service under load: a server, several, or a shard. A history.Refusal is a definite no; any other error
// of a call leaves it unknown whether the call was executed.
type Service interface {
	Create(q history.Queue) error
	Drop(queue string) error
	Send(queue string, letters []Letter) ([]Sent, error)
	Receive(queue string, how Receive) ([]Received, error)
	Remove(queue string, handles []string) ([]error, error)
	Hide(queue string, handles []string, timeout time.Duration) ([]error, error)
	Purge(queue string) error
	Move(queue string, rate int) (task string, err error)
	Cancel(queue, task string) error
	Counts(queue string) (Counts, error)
	// CreateTopic makes a topic and subscribes its queues, which exist.
	CreateTopic(t history.Topic) error
	Publish(topic string, letters []Letter) ([]Sent, error)
}

// Undoer is the part of a service that undoes purges and deletions of queues. Its errors are like those of Service.
type Undoer interface {
	UndoPurge(queue string) error
	UndoDelete(queue string) error
}

// Visibility is the timeout of all queues that receives do not override.
const Visibility = time.Second

// Letter is a message to be sent.
type Letter struct {
	Name  string // unique in a run; also the deduplication id in a FIFO queue
	Group string
	Delay time.Duration
	first time.Duration // when it was sent for the first time
}

// Sent is the answer to the sending of a letter.
type Sent struct {
	ID       string
	Sequence string // SequenceNumbers of a queue are equally long
	Err      error
}

// Receive holds the parameters of a receive.
type Receive struct {
	Most    int
	Timeout time.Duration
	Wait    time.Duration
	Attempt string // ReceiveRequestAttemptId
}

// Received is a message.
type Received struct {
	Body     string
	ID       string
	Group    string
	Sequence string
	Receives int
	Handle   string
}

// Counts holds the counts that a queue reports.
type Counts struct {
	Visible, InFlight, Delayed int
	Moving                     bool // a message move task is running
}

// Total counts the messages in all states.
func (c Counts) Total() int { return c.Visible + c.InFlight + c.Delayed }

// A message whose name ends with this is nearly of the maximum length.
const (
	longMark = "-long"
	longSize = 220 << 10
)

// Body is the text of a message: its name, and padding of a length that follows
// from the name, so that a damaged body is recognised.
func Body(name string) string {
	sum := fnv.New32a()
	sum.Write([]byte(name))
	size := int(sum.Sum32() % 400)
	switch {
	case strings.HasSuffix(name, longMark):
		size = longSize
	case size%16 == 0:
		size *= 40 // some fill blocks of their own
	}
	return name + " " + strings.Repeat("x", size)
}

// NameIn returns the name of the message with that body.
func NameIn(text string) (string, error) {
	name, _, _ := strings.Cut(text, " ")
	if text != Body(name) {
		return name, fmt.Errorf("damaged body %.100q", text)
	}
	return name, nil
}
