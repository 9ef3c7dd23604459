package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Waiting returns the number of requests that the owner has not taken yet.
func (s *Shard) Waiting() int { return len(s.requests) }

// Polls returns the number of waiting long polls.
func (s *Shard) Polls() int {
	n, _ := call(context.Background(), s.inbox, func(*queue.Engine) (int, error) { return s.polls.ends.Len(), nil })
	return n
}

// ForwardsMost is the maximum number of concurrent calls with many messages.
const ForwardsMost = forwardsMost
