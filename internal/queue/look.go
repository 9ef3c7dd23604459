package queue

import (
	"fmt"
	"strings"
)

// Look holds what is needed to search a queue in the store, outside the goroutine that owns the engine.
type Look struct {
	queue     ID
	arn       string
	fifo      bool
	delay     Instant // how long a FIFO queue delays
	retention Instant
	now       Instant
	kept      keptRecord // for Weigh

	Cipher Cipher // of encrypted messages; nil: there are no keys
}

// Look returns what a search of a queue needs. It changes nothing.
func (e *Engine) Look(id ID) (Look, error) {
	q := e.queues[id]
	if q == nil {
		return Look{}, ErrNoQueue
	}
	return Look{
		queue: id, arn: q.cfg.ARN, fifo: q.cfg.FIFO, delay: Instant(q.cfg.Delay.Milliseconds()),
		retention: Instant(q.cfg.Retention.Milliseconds()), now: e.now,
	}, nil
}

// Account returns the account that owns the queue.
func (l *Look) Account() string { return accountOf(l.arn) }

// accountOf returns the account in an ARN; empty if it has none.
func accountOf(arn string) string {
	for range 4 { // arn, the partition, the service and the region
		_, arn, _ = strings.Cut(arn, ":")
	}
	account, _, found := strings.Cut(arn, ":")
	if !found {
		return ""
	}
	return account
}

func (l *Look) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("look into queue %d: %w", l.queue, err)
}

// Oldest returns when the oldest stored message was sent, or 0 if there is none. r must not change during the call.
func (l Look) Oldest(r Reader) (Instant, error) {
	var m meta
	if b, err := r.Get(metaKey(l.queue)); b == nil || err != nil {
		return 0, l.failed(err)
	} else if err := m.decode(b); err != nil {
		return 0, l.failed(err)
	}
	oldest := never
	// The line is ordered by age, and its received messages are in front.
	first := Position(0)
	err := r.Scan(m.rows.receivedKey(l.queue, 0), m.rows.receivedKey(l.queue, indexedBit), func(k, _ []byte) bool {
		first = Position(tail(k, 0))
		return false
	})
	if err != nil {
		return 0, l.failed(err)
	}
	if first == 0 && m.line.head < m.line.next {
		first = m.line.head
	}
	if first != 0 {
		b, err := r.Get(messageKey(l.queue, first))
		if err == nil && b == nil {
			err = errMissing
		}
		if err == nil {
			oldest, err = sentAt(b)
		}
		if err != nil {
			return 0, l.failed(err)
		}
	}
	sent, err := l.oldestIndexed(r, &m)
	if oldest = min(oldest, sent); oldest == never {
		oldest = 0
	}
	return oldest, l.failed(err)
}

// oldestIndexed returns when the oldest indexed message was sent, or never.
func (l *Look) oldestIndexed(r Reader, m *meta) (oldest Instant, err error) {
	oldest = never
	if !l.fifo {
		_, end := m.rows.tableRange(l.queue, tableAge)
		err = r.Scan(m.rows.ageKey(l.queue, m.index.floor, 0), end, func(k, _ []byte) bool {
			oldest = Instant(tail(k, 1))
			return false
		})
		return oldest, err
	}
	var bad error
	_, end := tableRange(l.queue, tableMessage)
	err = r.Scan(messageKey(l.queue, max(m.index.head, indexedBit)), end, func(_, v []byte) bool {
		oldest, bad = sentAt(v)
		return false
	})
	return oldest, firstError(err, bad)
}
