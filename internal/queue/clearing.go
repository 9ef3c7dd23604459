package queue

import (
	"fmt"
	"slices"
)

// clearLine moves the head of the line to p: it turns the messages in front of p into indexed messages. A message from
// the middle of the line can leave in no other way, because the line has no gaps. clearLine does a bounded amount of
// work, and reports whether the head is at p.
func (ms *messages) clearLine(p Position) (there bool, err error) {
	type record struct{ key, value []byte }
	var ahead []record
	work, room := 0, ms.room()
	err = ms.tx.Scan(messageKey(ms.cfg.ID, ms.line.head), messageKey(ms.cfg.ID, p), func(k, v []byte) bool {
		ahead = append(ahead, record{slices.Clone(k), slices.Clone(v)})
		work += 1 + len(v)>>10
		room -= len(v)
		return work < selectionWork && room > 0
	})
	if err != nil {
		return false, err
	}
	ms.work += work
	for _, r := range ahead {
		if at := Position(tail(r.key, 0)); at != ms.line.head {
			return false, fmt.Errorf("message %v of the line: %w", ms.line.head, errMissing)
		}
		if err := ms.indexFirst(r.key, r.value); err != nil {
			return false, err
		}
	}
	ms.markDirty()
	return ms.line.head == p, nil
}

// indexFirst turns the first message of the line into an indexed message.
func (ms *messages) indexFirst(key, record []byte) error {
	only := ms.indexed() == 0
	ms.line.take()
	return ms.indexAs(key, record, only)
}

// indexAnew turns a kept message of the line into an indexed one.
func (ms *messages) indexAnew(key, record []byte) error {
	return ms.indexAs(key, record, ms.indexed() == 0)
}

// indexAs gives a message of the line the next position of the index. only means that the index has no others.
func (ms *messages) indexAs(key, record []byte, only bool) error {
	sent, err := sentAt(record)
	if err != nil {
		return err
	}
	ms.tx.DeleteOnce(key)
	to := ms.index.place(sent, only)
	ms.writeRecord(to, record)
	ms.index.setAge(to, sent, "", sent)
	return ms.groups.add("", to, sent)
}
