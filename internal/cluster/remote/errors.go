package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// An error is sent as a byte with its kind and, where that helps the caller, a text. A queue.Refusal is its number on
// top of refusal.
const (
	fine byte = iota
	failed
	unavailable
	notBegun
	blocked              // with the reason
	blockedNotBegun      // with the reason
	refusal         byte = 31
)

// failure is an error that another node returned, or that occurred in transit.
type failure struct {
	kind error // its kind, for errors.Is
	text string
}

func (f *failure) Error() string { return f.kind.Error() + ": " + f.text }
func (f *failure) Unwrap() error { return f.kind }

// textOf returns the text of err without that of kind, which the caller's node adds
// again.
func textOf(err error, kind error) string {
	return strings.TrimPrefix(err.Error(), kind.Error()+": ")
}

// putError writes err, nil included.
func putError(w *writer, err error) {
	if err == nil {
		w.Byte(fine)
		return
	}
	disk, isStuck := errors.AsType[*shard.BlockedError](err)
	begun := !errors.Is(err, shard.ErrNotBegun)
	switch {
	case isStuck && begun:
		w.Byte(blocked)
		w.String(disk.Reason)
	case isStuck:
		w.Byte(blockedNotBegun)
		w.String(disk.Reason)
	case !begun:
		w.Byte(notBegun)
		w.String(textOf(err, shard.ErrNotBegun))
	case errors.Is(err, shard.ErrUnavailable), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		w.Byte(unavailable)
		w.String(textOf(err, shard.ErrUnavailable))
	default:
		if r, ok := errors.AsType[queue.Refusal](err); ok {
			w.Byte(refusal + byte(r))
			return
		}
		w.Byte(failed)
		w.String(err.Error())
	}
}

// getError reads an error written by putError.
func getError(r *reader) error {
	node := "node " + r.node
	code := r.Byte()
	if code > refusal {
		if r := queue.Refusal(code - refusal); r.Known() {
			return r
		}
		// A refusal has changed nothing, but this program has no text for it.
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
	case blocked:
		return fmt.Errorf("%w: %s: %w", shard.ErrUnavailable, node, &shard.BlockedError{Reason: text})
	case blockedNotBegun:
		return fmt.Errorf("%w: %s: %w", shard.ErrNotBegun, node, &shard.BlockedError{Reason: text})
	}
	r.Fail()
	return nil
}
