package crash

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// service is what dies and comes back: the server's process or a shard. Any
// error of a call that is not a refusal leaves it unknown whether the call was
// executed.
type service interface {
	create(q spec) error
	drop(queue string) error
	send(queue string, letters []letter) ([]sent, error)
	receive(queue string, r receive) ([]received, error)
	remove(queue string, handles []string) ([]error, error)
	hide(queue string, handles []string, timeout time.Duration) ([]error, error)
	purge(queue string) error
	move(queue string, rate int) (task string, err error)
	cancel(queue, task string) error
	counts(queue string) (counts, error)
}

// spec is a queue.
type spec struct {
	name        string
	dead        string // name of the dead-letter queue
	maxReceives int
}

// visibility is the timeout of all queues that receives do not override.
const visibility = time.Second

func isFIFO(queue string) bool { return strings.HasSuffix(queue, ".fifo") }

// letter is a message to be sent.
type letter struct {
	name  string // unique in a run; also the deduplication id in a FIFO queue
	group string
	delay time.Duration
	first time.Duration // when it was sent for the first time
}

type sent struct {
	id       string
	sequence string // SequenceNumbers of a queue are equally long
	err      error
}

type receive struct {
	most    int
	timeout time.Duration
	wait    time.Duration
	attempt string // ReceiveRequestAttemptId
}

type received struct {
	body     string
	id       string
	group    string
	sequence string
	receives int
	handle   string
}

type counts struct {
	visible, inFlight, delayed int
	moving                     bool // a message move task is running
}

func (c counts) total() int { return c.visible + c.inFlight + c.delayed }

// refusal is a definite no: nothing was changed.
type refusal string

func (r refusal) Error() string { return string(r) }

// The refusals that the tests provoke. Any other is a failure.
const (
	refusedNoQueue refusal = "no such queue"
	refusedExpired refusal = "the receipt handle has expired"
	refusedAbsent  refusal = "the message is not there"
	refusedStale   refusal = "the receive call is not retryable"
	refusedPurging refusal = "purged less than a minute ago"
	refusedMoving  refusal = "a message move task is running"
	refusedNoTask  refusal = "no such message move task"
)

// errGone says that the service died before it answered.
var errGone = errors.New("the service is gone")

// body is the text of a message: its name, and padding of a length that follows
// from the name, so that a damaged body is recognised.
func body(name string) string {
	sum := fnv.New32a()
	sum.Write([]byte(name))
	size := int(sum.Sum32() % 400)
	if size%16 == 0 {
		size *= 40 // some fill blocks of their own
	}
	return name + " " + strings.Repeat("x", size)
}

// nameIn returns the name of the message with that body.
func nameIn(text string) (string, error) {
	name, _, _ := strings.Cut(text, " ")
	if text != body(name) {
		return name, fmt.Errorf("damaged body %.100q", text)
	}
	return name, nil
}
