package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// How errors travel: a byte that says what they are and, where the caller can
// learn more from it, a text.
const (
	fine byte = iota
	failed
	unavailable
	notBegun
	stuck              // with a reason for anybody
	stuckNotBegun      // as well
	firstRefusal  byte = 32
)

// refusals are the engine's, each with its place for a number. The numbers are
// known to other nodes: new ones go to the end.
var refusals = [...]error{
	queue.ErrNoQueue, queue.ErrOverLimit, queue.ErrReceiptExpired, queue.ErrNotReceived, queue.ErrVisibilityTotal,
	queue.ErrAttemptStale, queue.ErrPurgeInProgress, queue.ErrTaskRunning, queue.ErrNoTask,
	queue.ErrOutOfOrder, queue.ErrElsewhere,
}

// failure is an error that has come from another node, or of the way there.
type failure struct {
	kind error // what it is, for errors.Is
	text string
}

func (f *failure) Error() string { return f.kind.Error() + ": " + f.text }
func (f *failure) Unwrap() error { return f.kind }

// textOf returns what err says beyond what it is, for it is said again on the
// other side.
func textOf(err error, kind error) string {
	return strings.TrimPrefix(err.Error(), kind.Error()+": ")
}

// putError writes err, nil included.
func putError(w *writer, err error) {
	if err == nil {
		w.byte(fine)
		return
	}
	disk, isStuck := errors.AsType[*shard.StuckError](err)
	begun := !errors.Is(err, shard.ErrNotBegun)
	switch {
	case isStuck && begun:
		w.byte(stuck)
		w.string(disk.Reason)
	case isStuck:
		w.byte(stuckNotBegun)
		w.string(disk.Reason)
	case !begun:
		w.byte(notBegun)
		w.string(textOf(err, shard.ErrNotBegun))
	case errors.Is(err, shard.ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		w.byte(unavailable)
		w.string(textOf(err, shard.ErrUnavailable))
	default:
		for i, refusal := range refusals {
			if errors.Is(err, refusal) {
				w.byte(firstRefusal + byte(i))
				return
			}
		}
		w.byte(failed)
		w.string(err.Error())
	}
}

// getError reads what putError has written.
func getError(r *reader) error {
	node := "node " + r.node
	code := r.byte()
	if code >= firstRefusal {
		if i := int(code - firstRefusal); i < len(refusals) {
			return refusals[i]
		}
		// A refusal has changed nothing, but it is not one that could be shown.
		return &failure{shard.ErrUnavailable, node + " refuses with a reason that only newer programs know"}
	}
	if code == fine {
		return nil
	}
	text := r.ownString()
	switch code {
	case failed:
		return errors.New(node + ": " + text)
	case unavailable:
		return &failure{shard.ErrUnavailable, node + ": " + text}
	case notBegun:
		return &failure{shard.ErrNotBegun, node + ": " + text}
	case stuck:
		return fmt.Errorf("%w: %s: %w", shard.ErrUnavailable, node, &shard.StuckError{Reason: text})
	case stuckNotBegun:
		return fmt.Errorf("%w: %s: %w", shard.ErrNotBegun, node, &shard.StuckError{Reason: text})
	}
	r.fail()
	return nil
}
