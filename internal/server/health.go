package server

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/shard"
)

// health is the state of the server.
func (st *storage) health() front.Health {
	return front.Health{
		Live:  func() error { return inWords(st.disk.Lifetime().Err()) },
		Ready: func(ctx context.Context) error { return inWords(st.probe(ctx)) },
		Low:   st.isLow,
	}
}

// probe checks whether requests would be served.
func (st *storage) probe(ctx context.Context) error {
	if err := st.node.Current(); err != nil {
		return err
	}
	return st.messages.Probe(ctx)
}

// inWords describes a disk that cannot be written, as far as every client may know.
func inWords(err error) error {
	if blocked, ok := errors.AsType[*shard.BlockedError](err); ok {
		return &front.HealthError{Text: "the disk cannot be written: " + blocked.Reason}
	}
	return err
}
