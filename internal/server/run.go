package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How long requests under way may take when the server is stopped, or when the
// disk has failed.
const (
	stopTimeout = 30 * time.Second
	failTimeout = 3 * time.Second
)

// Run serves until ctx ends. Then it stops in order: no more connections, long
// polls answered with what they have, requests under way finished, their
// commits made, the stores closed. If the disk fails it stops, too, with an error;
// requests whose commits cannot be made get an error.
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
	_ = s.storage.disk.Guard(func() error { // close says so
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

// runner is a wing that has loops. Run runs them side by side, and returns when all have ended: soon after ctx has. A
// loop that fails does not end the others. An error says what the server goes on without.
type runner interface {
	Run(ctx context.Context) error
}

// runners returns the wings that have loops.
func (s *Server) runners() []runner {
	return []runner{s.storage, s.secrecy, s.accounts, s.queues, s.topics, s.monitoring, s.audit, s.exposition, s.administration}
}

// begin runs the loops of all wings until ctx ends. None of them keeps the server from serving messages: where one
// fails, the log says so and the server goes on.
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

// wait returns when the server is to stop, how long requests under way may take then, and why it has failed, if it has.
func (s *Server) wait(ctx context.Context, failed <-chan error) (timeout time.Duration, err error) {
	select {
	case err := <-failed:
		return stopTimeout, fmt.Errorf("serve: %w", err)
	case <-s.storage.disk.Lifetime().Blocked(): // close returns why
		s.log.Error("stopping, to read the data anew at the next start")
		return failTimeout, nil
	case <-s.storage.node.Failed():
		return failTimeout, s.storage.node.Err()
	case <-ctx.Done():
		s.log.Info("stopping")
		return stopTimeout, nil
	}
}
