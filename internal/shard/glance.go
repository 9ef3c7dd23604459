package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Glance is what a list of queues shows of one, as one shard knows it.
type Glance struct {
	ID queue.ID
	queue.Glance
	Served  bool // by this shard; otherwise there are only messages on their way to another
	Waiters int  // long polls that wait for a message
	// Unavailable says that a shard of the queue could not be asked: nothing else is known.
	Unavailable bool
}

// MaxGlances is how many queues can be asked for in one call.
const MaxGlances = 512

// Glances returns what lists show of some queues, all as they are at one moment but for their oldest messages, which
// are looked for at the next. It leaves out queues of which there is nothing here.
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
