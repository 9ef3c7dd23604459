package sqs

import (
	"fmt"
	"runtime/debug"
)

// configure makes a change of the catalog, and what the shard has to learn of
// it, one change at a time. If the disk gets stuck, the caller is told so and
// waits no longer; a change that has begun then still goes on to its end, so that
// catalog and shard do not part.
func (s *Service) configure(change func() error) error {
	condition := s.shard.Condition()
	if condition.Err() != nil {
		return failure(condition.Err(), nil)
	}
	done := make(chan error, 1)
	failed := make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				failed <- fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
		}()
		s.configuring.Lock()
		defer s.configuring.Unlock()
		if err := condition.Err(); err != nil {
			return // nobody waits for it any more
		}
		done <- change()
	}()
	select {
	case err := <-done:
		return err
	case p := <-failed:
		panic(p)
	case <-condition.Stuck():
		return failure(condition.Err(), nil)
	}
}
