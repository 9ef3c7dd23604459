package shard

import "github.com/sluicemq/sluice/internal/queue"

// Unknown returns the number of queues whose data the shard has, although it knows neither their configuration nor
// their deletion; see queue.Engine.Unknown.
func (s *Shard) Unknown() int { return int(s.unknown.Load()) }

func (s *Shard) countUnknown(e *queue.Engine) { s.unknown.Store(int64(len(e.Unknown()))) }

// reportUnknown logs the unknown queues when the shard has been loaded.
func (o *owner) reportUnknown(e *queue.Engine) {
	o.countUnknown(e)
	const most = 10
	if ids := e.Unknown(); len(ids) > 0 {
		o.log.Warn("data of unknown queues is kept: they are neither listed nor known to be deleted",
			"queues", len(ids), "first", ids[:min(len(ids), most)])
	}
}
