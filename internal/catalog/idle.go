package catalog

import (
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

// Idle is the state of an unused queue that will be deleted.
type Idle struct {
	Used      time.Time // the last use that was known when this was announced; there was none after it
	Announced time.Time
	Due       time.Time // the queue is not deleted before
	// Sealed means that all shards refuse calls to the queue while the server checks whether it can be deleted.
	Sealed bool `json:",omitempty"`
}

// TagIdle is the tag that keeps an unused queue. Its value is IdleKeep.
const (
	TagIdle  = "sluice:idle"
	IdleKeep = "keep"
)

// IdleSince returns the time since which the use of queues is watched without a break. The zero time means that it is
// not watched.
func (c *Catalog) IdleSince() time.Time {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return control.Only(r.idleSince)
}

// WatchIdle records the time since which the use of queues is watched. The zero time means that it is not watched.
func (tx *Tx) WatchIdle(since time.Time) {
	if since.IsZero() {
		idleSinceTable.Delete(tx.tx, alone)
		return
	}
	idleSinceTable.Put(tx.tx, alone, &since)
}
