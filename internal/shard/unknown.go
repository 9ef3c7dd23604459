package shard

import (
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/queue"
)

// Unknown returns the ids, in ascending order, of the queues whose data the shard has, although it knows neither their
// configuration nor their deletion; see queue.Engine.Unknown.
func (s *Shard) Unknown() []queue.ID { return s.unknown.list() }

// unknownQueues are the unknown queues that the engine last reported. The zero value has none.
type unknownQueues struct {
	ids atomic.Pointer[[]queue.ID]
}

func (u *unknownQueues) list() []queue.ID {
	if ids := u.ids.Load(); ids != nil {
		return *ids
	}
	return nil
}

func (u *unknownQueues) note(e *queue.Engine) {
	ids := e.Unknown()
	u.ids.Store(&ids)
}

// reportUnknown logs the unknown queues when the shard has been loaded.
func (o *owner) reportUnknown(e *queue.Engine) {
	o.unknown.note(e)
	const most = 10
	if ids := e.Unknown(); len(ids) > 0 {
		o.log.Warn("data of unknown queues is kept: they are neither listed nor known to be deleted",
			"queues", len(ids), "first", ids[:min(len(ids), most)])
	}
}
