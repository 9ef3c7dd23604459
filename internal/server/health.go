package server

import (
	"context"

	"errors"

	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/shard"
)

// health says how the server is.
func (s *Server) health() front.Health {
	return front.Health{
		Live:  func() error { return inWords(s.disk.Lifetime().Err()) },
		Ready: func(ctx context.Context) error { return inWords(s.probe(ctx)) },
		Low:   func() bool { return s.space.room() != nil },
	}
}

// inWords says of a disk that cannot be written what every client may know of it.
func inWords(err error) error {
	if blocked, ok := errors.AsType[*shard.BlockedError](err); ok {
		return &front.HealthError{Text: "the disk cannot be written: " + blocked.Reason}
	}
	return err
}
