package catalog

import (
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

// Idle is what is decided about an unused queue.
type Idle struct {
	Used      time.Time // the last use that was known when this was announced; there was none after it
	Announced time.Time
	Due       time.Time // the queue is not deleted before
	// Sealed says that all shards refuse calls to the queue while it is found out whether it can be deleted.
	Sealed bool `json:",omitempty"`
}

// TagIdle is the tag of a queue that is kept although it is unused. Its value is IdleKeep.
const (
	TagIdle  = "sluice:idle"
	IdleKeep = "keep"
)

// IdleSince returns since when it is watched, without a break, which queues are used, or the zero time if it is not.
func (c *Catalog) IdleSince() time.Time {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return control.Only(r.idleSince)
}

// WatchIdle notes since when it is watched which queues are used. The zero time says that it is not.
func (tx *Tx) WatchIdle(since time.Time) {
	if since.IsZero() {
		idleSinceTable.Delete(tx.tx, alone)
		return
	}
	idleSinceTable.Put(tx.tx, alone, &since)
}
