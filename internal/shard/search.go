package shard

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// search looks for the messages that tasks select, until the shard is closed. The owner is asked only what to look for,
// and given what was found; a filter is never evaluated by it. The searches of a shard are made one after the other,
// each for a bounded time, and take a small part of the machine while the shard is busy: see pacer.
func (s *Shard) search() {
	ctx := context.Background() // all that is waited for ends with the shard
	for {
		ids, err := s.searches.wait(ctx, s.closed)
		if err != nil {
			return
		}
		for _, id := range ids {
			if err := s.searchIn(ctx, id); err != nil {
				s.searchLater(id)
			}
		}
	}
}

// searchIn makes one search for the task of a queue, if that still wants one.
func (s *Shard) searchIn(ctx context.Context, id queue.ID) error {
	var wanted bool
	search, err := call(ctx, s, func(e *queue.Engine) (search queue.Search, _ error) {
		search, wanted = e.Search(id)
		return search, nil
	})
	if err != nil || !wanted {
		return err
	}
	search.Cipher = s.cipher
	var found queue.Found
	err = s.walk(ctx, search.Account(), func(r queue.Reader, proceed func(int) bool) (err error) {
		found, err = search.Run(r, proceed)
		return err
	})
	if err != nil {
		return err
	}
	return s.exec(ctx, func(e *queue.Engine) error {
		e.Supply(id, found)
		return nil
	})
}

// searchLater has a search made again that has failed, when the store may be back.
func (s *Shard) searchLater(id queue.ID) {
	timer := time.NewTimer(reloadInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
		s.searches.announce([]queue.ID{id})
	case <-s.closed:
	}
}
