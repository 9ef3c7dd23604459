package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Waiting returns how many requests the owner has not looked at.
func (s *Shard) Waiting() int { return len(s.requests) }

// Polls returns how many long polls wait.
func (s *Shard) Polls() int {
	n, _ := call(context.Background(), s.inbox, func(*queue.Engine) (int, error) { return s.polls.ends.Len(), nil })
	return n
}

// ForwardsMost is how many calls with many messages can be in progress at a time.
const ForwardsMost = forwardsMost
