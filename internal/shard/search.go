package shard

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// searcher finds the messages that tasks select, until the shard is closed. The owner only describes the search, and
// receives the results; it never evaluates a filter. A searcher runs one search at a time, each for a limited time, and
// uses a small part of the machine while the shard is busy; see pacer.
type searcher struct {
	inbox   *inbox
	readers *readers
	wanted  readyQueues // queues whose tasks need a search
}

func (s *searcher) run() {
	ctx := context.Background() // all waits below end with the shard
	for {
		ids, err := s.wanted.wait(ctx, s.inbox.closed)
		if err != nil {
			return
		}
		for _, id := range ids {
			if err := s.search(ctx, id); err != nil {
				s.later(id)
			}
		}
	}
}

// search makes one search for the task of a queue, if the task still needs one.
func (s *searcher) search(ctx context.Context, id queue.ID) error {
	var wanted bool
	search, err := call(ctx, s.inbox, func(e *queue.Engine) (search queue.Search, _ error) {
		search, wanted = e.Search(id)
		return search, nil
	})
	if err != nil || !wanted {
		return err
	}
	search.Cipher = s.readers.cipher
	var found queue.Found
	err = s.readers.walk(ctx, search.Account(), func(r queue.Reader, proceed func(int) bool) (err error) {
		found, err = search.Run(r, proceed)
		return err
	})
	if err != nil {
		return err
	}
	return s.inbox.exec(ctx, func(e *queue.Engine) error {
		e.Supply(id, found)
		return nil
	})
}

// later repeats a failed search when the store or the keys may be available again. Other searches continue
// meanwhile.
func (s *searcher) later(id queue.ID) {
	time.AfterFunc(reloadInterval, func() { s.wanted.announce([]queue.ID{id}) })
}
