package queue

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/formats"
)

// The name of a queue is stored beside its record, in the transaction that first writes something counted. If the queue
// is deleted, but the shard fails or moves before it drops the data, a reader of both can still write the row of the
// running minute.
//
//	version | name

func encodeOwnName(name string) []byte {
	w := newRecord(2 + len(name))
	w.String(name)
	return w.Writer
}

func decodeOwnName(b []byte) (string, error) {
	r := readRecord(b)
	name := r.String()
	return name, r.done("name of a queue")
}

// saveName stores the name of the queue, unless it is already stored or must not be.
func (t *tally) saveName() {
	if t.named || t.series.unsaid {
		return
	}
	t.tx.Set(ownNameKey(t.cfg.ID), encodeOwnName(t.cfg.ARN))
	t.needs(formats.Names)
	t.named = true
}

// loadName finds out whether the name of the queue is stored.
func (t *tally) loadName() error {
	b, err := t.tx.Get(ownNameKey(t.cfg.ID))
	if b == nil || err != nil {
		return err
	}
	t.named, t.series.unsaid = true, false
	t.needs(formats.Names)
	return nil
}

// leftoverMinute returns the counters of the running minute of a deleted queue, and its name. They are empty if nothing
// was counted, or if the records are missing or damaged. A damaged record of a deleted queue must not prevent the shard
// from loading.
func leftoverMinute(r Reader, id ID) (name string, c counting, err error) {
	record, err := r.Get(metaKey(id))
	if record == nil || err != nil {
		return "", c, err
	}
	own, err := r.Get(ownNameKey(id))
	if own == nil || err != nil {
		return "", c, err
	}
	name, m, sound := decodeLeftover(record, own)
	if !sound || m.nothing() {
		return "", c, nil
	}
	m.minute = max(m.minute, minute)
	return name, m.counting, nil
}

func decodeLeftover(record, own []byte) (name string, m meta, sound bool) {
	name, err := decodeOwnName(own)
	sound = firstError(err, m.decode(record)) == nil
	return name, m, sound
}

// happenedInLeftovers adds the counters of the running minutes of deleted queues: all queues except those with the
// given configs.
func happenedInLeftovers(r Reader, configs []Config, to map[string][Metrics]int64) error {
	known := make(map[ID]bool, len(configs))
	for i := range configs {
		known[configs[i].ID] = true
	}
	for next := ID(1); ; next++ {
		id, err := firstQueue(r, next)
		if id == 0 || err != nil {
			return err
		}
		next = id
		if known[id] {
			continue
		}
		name, c, err := leftoverMinute(r, id)
		if err != nil {
			return fmt.Errorf("running minute of the deleted queue %d: %w", id, err)
		}
		if name == "" {
			continue
		}
		sum := to[name]
		for m, n := range c.happened {
			sum[m] += n
		}
		to[name] = sum
	}
}

// checkOwnName checks that the name beside the queue's record is its own.
func (c *checker) checkOwnName() error {
	return c.scan(tableOwnName, keyOf0, func(_, v []byte) error {
		name, err := decodeOwnName(v)
		c.want(err != nil || name == c.cfg.ARN, "the name beside the record of the queue is %q", name)
		return err
	})
}
