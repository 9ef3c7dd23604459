package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Limits for requests in progress when the server is stopped, or when the disk has failed.
const (
	stopTimeout = 30 * time.Second
	failTimeout = 3 * time.Second
)

// Run serves until ctx ends. It then stops in order: it refuses new connections, answers long polls at once, finishes
// the requests in progress with their commits, and closes the stores. If the disk fails, it also stops and returns an
// error; requests whose commits cannot be made receive an error.
func (s *Server) Run(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- s.entrance.serve() }()
	s.peers.answering.Store(true)
	running, stopLoops := context.WithCancel(ctx)
	defer stopLoops()
	loops := s.begin(running)
	timeout, err := s.wait(ctx, failed)
	s.peers.answering.Store(false)
	stopLoops()
	s.storage.messages.Drain()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	err = errors.Join(err, s.entrance.stop(stop, timeout))
	_ = s.storage.disk.Guard(func() error { // close returns the reason
		loops.Wait()
		s.audit.flush(stop)
		return nil
	})
	if err = errors.Join(err, s.close()); err == nil {
		err = s.storage.noteStop()
	}
	s.log.Info("stopped")
	return err
}

// runner is a wing with loops. Run runs them side by side, and returns when all have ended, soon after ctx. A loop that
// fails does not end the others. The error names the parts without which the server continues.
type runner interface {
	Run(ctx context.Context) error
}

// runners returns the wings that have loops.
func (s *Server) runners() []runner {
	return []runner{
		s.storage, s.secrecy, s.accounts, s.queues, s.topics, s.monitoring, s.audit, s.exposition, s.administration,
	}
}

// begin runs the loops of all wings until ctx ends. A loop that fails is logged, and the server continues to serve
// messages.
func (s *Server) begin(ctx context.Context) *sync.WaitGroup {
	loops := new(sync.WaitGroup)
	for _, wing := range s.runners() {
		loops.Go(func() {
			if err := wing.Run(ctx); err != nil {
				s.log.Warn("a loop of the server has ended with an error", "error", err)
			}
		})
	}
	return loops
}

// wait returns when the server must stop. It returns how long requests in progress may take then, and the failure of
// the server, if any.
func (s *Server) wait(ctx context.Context, failed <-chan error) (timeout time.Duration, err error) {
	select {
	case err := <-failed:
		return stopTimeout, fmt.Errorf("serve: %w", err)
	case <-s.storage.disk.Lifetime().Blocked(): // close returns the reason
		s.log.Error("stopping, to read the data again at the next start")
		return failTimeout, nil
	case <-s.storage.node.Failed():
		return failTimeout, s.storage.node.Err()
	case <-ctx.Done():
		s.log.Info("stopping")
		return stopTimeout, nil
	}
}
