package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Glance is the summary of one queue on one shard, for lists of queues.
type Glance struct {
	ID queue.ID
	queue.Glance
	Served  bool // by this shard; otherwise it has only messages for another shard
	Waiters int  // long polls that wait for a message
	// Unavailable means that a shard of the queue did not answer. The other fields are then unknown.
	Unavailable bool
}

// MaxGlances limits the queues of one call.
const MaxGlances = 512

// Glances returns the summaries of queues as of one moment, except their oldest messages, which are read a moment
// later. It omits queues without data here.
func (s *Shard) Glances(ctx context.Context, ids []queue.ID) ([]Glance, error) {
	ids = ids[:min(len(ids), MaxGlances)]
	var looks []queue.Look
	list, err := call(ctx, s.inbox, func(e *queue.Engine) ([]Glance, error) {
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
			g.Waiters = s.polls.of(id)
			list, looks = append(list, g), append(looks, look)
		}
		return list, nil
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	// All queues belong to one account, unless the server itself asks.
	err = s.readers.walk(ctx, looks[0].Account(), func(r queue.Reader, proceed func(int) bool) (err error) {
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
