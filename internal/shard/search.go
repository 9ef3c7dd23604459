package shard

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// search finds the messages that tasks select, until the shard is closed. The owner only says what to search for, and
// receives the results; it never evaluates a filter. A shard runs one search at a time, each for a limited time, and
// uses a small part of the machine while the shard is busy; see pacer.
func (s *Shard) search() {
	ctx := context.Background() // all waits below end with the shard
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

// searchIn makes one search for the task of a queue, if the task still needs one.
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

// searchLater repeats a failed search when the store or the keys may be available again. Other searches continue
// meanwhile.
func (s *Shard) searchLater(id queue.ID) {
	time.AfterFunc(reloadInterval, func() { s.searches.announce([]queue.ID{id}) })
}
