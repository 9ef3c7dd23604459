package queue

import "fmt"

// messages are the messages of a queue: their records, and the part that each of them is in.
//
//   - stored counts the messages of the line and the indexed ones. Each of these is in exactly one of groups, delays
//     and held. The line has messages in standard queues only.
//   - put adds a message. remove, dropIndexed, dropHead and expireLine remove messages, and purge removes all. An undo
//     restores purged messages. Only these change stored.
//   - It does not know why a message comes or goes: the queue counts the events.
type messages struct {
	*base

	line   line
	index  index
	rota   rota
	groups groups
	held   held
	delays delays

	stored  uint64 // messages in the queue, in all states
	arrived Weight // bytes and messages stored since the engine was loaded
}

// init prepares the parts of a queue without messages.
func (ms *messages) init(b *base, records groupCache) {
	*ms = messages{
		base: b,
		line: newLine(b), index: index{base: b}, held: newHeld(b), delays: delays{base: b, next: never},
		rota: rota{base: b, rotaRecord: rotaRecord{head: 1}},
	}
	ms.groups = newGroups(b, &ms.rota, records)
}

// load rebuilds from the tables the state that is not in the record.
func (ms *messages) load() error {
	if err := ms.held.load(ms.trackStored); err != nil {
		return err
	}
	if ms.line.count()+ms.delays.count > ms.stored {
		return fmt.Errorf("%w: %d messages, of which %d are in the line and %d delayed",
			ErrDamaged, ms.stored, ms.line.count(), ms.delays.count)
	}
	if err := ms.groups.loadPaused(); err != nil {
		return err
	}
	ms.groups.loadReady()
	return ms.delays.load()
}

// put stores m as the newest message, available from due.
func (ms *messages) put(m *Message, due Instant) error {
	now, indexed := ms.now, ms.indexed()
	ms.stored++
	ms.markDirty()
	if !ms.cfg.FIFO && m.Group == "" && due <= now && m.SentAt == now {
		ms.write(ms.line.place(), m)
		return nil
	}
	p := ms.index.place(m.SentAt, indexed == 0)
	if ms.cfg.FIFO {
		m.Sequence = ms.index.sequence(p)
	}
	ms.write(p, m)
	ms.index.setAge(p, m.SentAt, m.Group, due)
	// A FIFO message does not overtake delayed messages, even if the queue's delay was shortened meanwhile.
	if due > now || ms.cfg.FIFO && ms.delays.count > 0 {
		ms.delays.postpone(p, m.Group, m.SentAt, due)
		return nil
	}
	return ms.groups.add(m.Group, p, m.SentAt)
}

// write stores the message at p.
func (ms *messages) write(p Position, m *Message) {
	ms.arrived.Messages++
	ms.arrived.Bytes += uint64(ms.base.write(p, m))
}

// Counts are the numbers of messages in a queue's states.
type Counts struct {
	Visible  uint64 // ApproximateNumberOfMessages
	InFlight uint64 // ApproximateNumberOfMessagesNotVisible
	Delayed  uint64 // ApproximateNumberOfMessagesDelayed
}

func (ms *messages) counts() Counts {
	return Counts{
		Visible:  ms.stored - ms.delays.count - uint64(ms.held.inFlight),
		InFlight: uint64(ms.held.inFlight),
		Delayed:  ms.delays.count,
	}
}

// indexed returns how many indexed messages are stored.
func (ms *messages) indexed() uint64 { return ms.stored - ms.line.count() }

// track adds m to the held messages, not in flight. Messages of the line and of each group must be added in order of
// position.
func (ms *messages) track(m *received) {
	ms.held.at[m.pos] = m
	if !m.pos.indexed() {
		ms.line.hold(m)
	}
	if m.group != nil {
		m.group.hold(m)
	}
}

// trackStored adds a message that was received before the engine was loaded.
func (ms *messages) trackStored(m *received, group string) {
	if ms.cfg.FIFO {
		m.group = ms.groups.activate(group)
	} else {
		m.tenant = group
	}
	ms.track(m)
}

// endTimeouts makes messages whose timeout has ended visible.
func (ms *messages) endTimeouts() {
	for m := ms.held.endTimeout(); m != nil; m = ms.held.endTimeout() {
		if m.group != nil {
			ms.groups.updateReady(m.group)
		}
	}
}

// endDelays makes messages whose delay has ended available, a bounded number at a time.
func (ms *messages) endDelays() error { return ms.delays.end(ms.groups.add) }

// remove removes m from the queue and from the store. The caller calls groups.release
// for its group.
func (ms *messages) remove(m *received) {
	ms.held.remove(m)
	if m.group != nil {
		m.group.remove(m)
	}
	ms.tx.DeleteOnce(ms.key(ms.cfg.ID, tableMessage).position(m.pos))
	if m.pos.indexed() {
		ms.index.dropAge(m.pos, m.sent)
	} else {
		ms.line.release()
	}
	ms.stored--
	ms.markDirty()
}

// removeAndRelease removes m, and lets its group continue.
func (ms *messages) removeAndRelease(m *received) error {
	ms.remove(m)
	if m.group == nil {
		return nil
	}
	return ms.groups.release(m.group)
}

// purge forgets all messages. Their positions and receipt numbers are never reused.
func (ms *messages) purge() {
	ms.groups.mixed = false
	ms.line.purge()
	ms.index.purge()
	ms.held.purge()
	ms.rota.purge()
	ms.groups.purge()
	ms.delays.purge()
	ms.stored = 0
	ms.markDirty()
}
