package queue

import (
	"maps"
	"slices"
)

// Unknown returns the ids of queues of which the store has data, and of which the engine knows neither the config nor the
// deletion. Their data stays as it is. Configure takes it over, and Drop removes it.
//
// There are none as long as the configs are newer than all that is stored, which the shard's owner sees to. They are the
// second line of defence: an owner whose configs are too old serves fewer queues, and destroys none.
func (e *Engine) Unknown() []ID { return slices.Sorted(maps.Keys(e.unknown)) }

// know takes over what is stored of a queue that was unknown, if it was.
func (e *Engine) know(id ID) error {
	if !e.unknown[id] {
		return nil
	}
	delete(e.unknown, id)
	q := e.queues[id]
	if q == nil {
		return e.outboxes[id].loadAlone()
	}
	only := func(other ID) *queue {
		if other != id {
			return nil
		}
		return q
	}
	return firstError(q.load(), q.loadOutbox(), e.slots.load(only))
}
