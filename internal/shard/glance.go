package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Glance is what a list of queues shows of one queue on one shard.
type Glance struct {
	ID queue.ID
	queue.Glance
	Served  bool // by this shard; otherwise there are only messages on their way to another
	Waiters int  // long polls that wait for a message
	// Unavailable means that a shard of the queue did not answer. Nothing else is known then.
	Unavailable bool
}

// MaxGlances is how many queues one call can ask for.
const MaxGlances = 512

// Glances returns what lists show of some queues, all as of one moment, except for their oldest messages, which are
// read at the next. It omits queues without data here.
func (s *Shard) Glances(ctx context.Context, ids []queue.ID) ([]Glance, error) {
	ids = ids[:min(len(ids), MaxGlances)]
	var looks []queue.Look
	list, err := call(ctx, s, func(e *queue.Engine) ([]Glance, error) {
		list := make([]Glance, 0, len(ids))
		for _, id := range ids {
			found, served, ok, err := e.Glance(id)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			g := Glance{ID: id, Glance: found, Served: served}
			var look queue.Look
			if served {
				if look, err = e.Look(id); err != nil {
					return nil, err
				}
			}
			if line := s.polls.waiting[id]; line != nil {
				g.Waiters = line.Len()
			}
			list, looks = append(list, g), append(looks, look)
		}
		return list, nil
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	// All are of one account, unless it is the server that asks.
	err = s.walk(ctx, looks[0].Account(), func(r queue.Reader, proceed func(int) bool) (err error) {
		for i := range list {
			g := &list[i]
			if g.Visible+g.InFlight+g.Delayed == 0 {
				continue
			}
			if g.Oldest, err = looks[i].Oldest(r); err != nil || !proceed(0) {
				return err
			}
		}
		return nil
	})
	return list, err
}
