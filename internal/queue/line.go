package queue

import (
	"slices"
	"sort"
)

// line is the messages of a standard queue that have neither delay nor group, in order of position.
//
//   - Messages that were never received are at [head, next), without a gap. So no key says which are available.
//
//   - Stored messages in front of head were received. received has them in order of position, among others that were
//     removed since; held is their number.
//
//   - Positions are in order of age.
//
//     received           head        next
//     ▼ ▼   ▼          ▼           ▼
//     ···●─●───●──────────●●●●●●●●●●●●
//     held             never received
type line struct {
	*base
	lineRecord
	received []*received
	held     int
}

func newLine(b *base) line { return line{base: b, lineRecord: lineRecord{head: 1, next: 1}} }

// waiting returns how many messages were never received.
func (l *line) waiting() uint64 { return uint64(l.next - l.head) }

// count returns how many messages are stored.
func (l *line) count() uint64 { return l.waiting() + uint64(l.held) }

// place returns the position of a new message.
func (l *line) place() Position {
	if l.count() == 0 {
		l.floor = l.now
	}
	l.next++
	return l.next - 1
}

// take removes the first message from [head, next), and returns its position.
func (l *line) take() Position {
	l.head++
	return l.head - 1
}

// hold records that m is held: the message taken last, or one that an undo restores.
func (l *line) hold(m *received) {
	l.trim()
	l.received = insertReceived(l.received, m)
	l.held++
}

// lower lowers floor for a message from an earlier time.
func (l *line) lower(sent Instant) {
	if l.count() == 0 {
		l.floor = sent
	}
	l.floor = min(l.floor, sent)
}

// release records that a message is no longer held.
func (l *line) release() { l.held-- }

// trim drops removed messages from the front of the list of received messages,
// and from the whole list when most of its messages are removed.
func (l *line) trim() {
	n := 0
	for n < len(l.received) && l.received[n].removed {
		l.received[n] = nil
		n++
	}
	l.received = l.received[n:]
	if len(l.received) > 2*l.held+64 {
		l.received = slices.DeleteFunc(l.received, func(m *received) bool { return m.removed })
	}
}

// firstHeld returns the oldest held message, or nil if there is none.
func (l *line) firstHeld() (m *received, err error) {
	l.trim()
	if len(l.received) == 0 {
		return nil, nil
	}
	m = l.received[0]
	return m, l.learnAge(m)
}

// learnAge reads when a held message was sent.
func (l *line) learnAge(m *received) (err error) {
	if m.sent == 0 {
		m.sent, err = l.sentAt(m.pos)
	}
	return err
}

// drop removes the messages that were never received and were sent at limit or before, and returns their number. No
// message in front of them may be held.
func (l *line) drop(limit Instant) (n int, err error) {
	var failed error
	n = sort.Search(int(l.waiting()), func(i int) bool {
		sent, err := l.sentAt(l.head + Position(i))
		failed = firstError(failed, err)
		return sent > limit
	})
	if failed != nil {
		return 0, failed
	}
	if n > 0 {
		end := l.head + Position(n)
		l.tx.DeleteRange(messageKey(l.cfg.ID, l.head), messageKey(l.cfg.ID, end))
		l.head = end
	}
	if l.waiting() > 0 {
		l.floor, err = l.sentAt(l.head)
	}
	return n, err
}

// oldest returns when the oldest message that counts for the metric was sent, or never.
func (l *line) oldest() (Instant, error) {
	for _, m := range l.received {
		if !m.removed && !m.ignored() {
			err := l.learnAge(m)
			return m.sent, err
		}
	}
	if l.waiting() > 0 {
		return l.sentAt(l.head)
	}
	return never, nil
}

// purge forgets all messages. Their positions are never reused.
func (l *line) purge() {
	l.lineRecord = lineRecord{head: l.next, next: l.next}
	l.received, l.held = nil, 0
}
