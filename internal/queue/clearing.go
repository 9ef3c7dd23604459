package queue

import (
	"fmt"
	"slices"
)

// clearLine moves the head of the line to p: it turns the messages in front of p into indexed messages. A message from
// the middle of the line can leave in no other way, because the line has no gaps. clearLine does a bounded amount of
// work, and reports whether the head is at p.
func (q *queue) clearLine(p Position) (there bool, err error) {
	type record struct{ key, value []byte }
	var ahead []record
	work, room := 0, q.room()
	err = q.tx.Scan(messageKey(q.cfg.ID, q.line.head), messageKey(q.cfg.ID, p), func(k, v []byte) bool {
		ahead = append(ahead, record{slices.Clone(k), slices.Clone(v)})
		work += 1 + len(v)>>10
		room -= len(v)
		return work < selectionWork && room > 0
	})
	if err != nil {
		return false, err
	}
	q.work += work
	for _, r := range ahead {
		if at := Position(tail(r.key, 0)); at != q.line.head {
			return false, fmt.Errorf("message %v of the line: %w", q.line.head, errMissing)
		}
		if err := q.indexFirst(r.key, r.value); err != nil {
			return false, err
		}
	}
	q.markDirty()
	return q.line.head == p, nil
}

// indexFirst turns the first message of the line into an indexed message.
func (q *queue) indexFirst(key, record []byte) error {
	only := q.indexed() == 0
	q.line.take()
	return q.indexAs(key, record, only)
}

// indexAnew makes a message an indexed one that the line held, and that is kept.
func (q *queue) indexAnew(key, record []byte) error { return q.indexAs(key, record, q.indexed() == 0) }

// indexAs gives a message of the line the next position of the index. only says that the index has no others.
func (q *queue) indexAs(key, record []byte, only bool) error {
	sent, err := sentAt(record)
	if err != nil {
		return err
	}
	q.tx.DeleteOnce(key)
	to := q.index.place(sent, only)
	q.writeRecord(to, record)
	q.index.setAge(to, sent, "", sent)
	return q.groups.add("", to, sent)
}
