package remote

import (
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// The least bytes that each of these takes in a message.
const (
	sizeAttribute  = 3
	sizeOutgoing   = 16 + 16 + 7
	sizeSent       = 16 + 2
	sizeDelivery   = 5
	sizeStored     = 16 + 16 + 10
	sizeMessage    = sizeDelivery + sizeStored
	sizeTransfer   = 1 + sizeStored
	sizeReceipt    = 2
	sizeVisibility = sizeReceipt + 1
	sizeMove       = 8
	sizeID         = 1
	sizeError      = 1
)

func putAttribute(w *writer, a *queue.Attribute) {
	w.string(a.Name)
	w.string(a.Type)
	w.string(a.Value)
}

func getAttribute(r *reader, a *queue.Attribute) {
	a.Name = r.string()
	a.Type = r.string()
	a.Value = r.string()
}

func putOutgoing(w *writer, o *queue.Outgoing) {
	w.raw(o.ID[:])
	w.raw(o.BodyMD5[:])
	w.string(o.Sender)
	w.string(o.Group)
	w.string(o.Dedup)
	w.string(o.Trace)
	w.optional(o.Delay)
	putAll(w, o.Attributes, putAttribute)
	w.string(o.Body)
}

func getOutgoing(r *reader, o *queue.Outgoing) {
	copy(o.ID[:], r.raw(16))
	copy(o.BodyMD5[:], r.raw(16))
	o.Sender = r.string()
	o.Group = r.ownString() // which the engine keeps
	o.Dedup = r.string()
	o.Trace = r.string()
	o.Delay = r.optional()
	o.Attributes = getAll(r, sizeAttribute, getAttribute)
	o.Body = r.string()
}

func putSent(w *writer, s *queue.Sent) {
	w.raw(s.ID[:])
	w.uint(s.Sequence)
	w.bool(s.Duplicate)
}

func getSent(r *reader, s *queue.Sent) {
	copy(s.ID[:], r.raw(16))
	s.Sequence = r.uint()
	s.Duplicate = r.bool()
}

func putReceive(w *writer, q *queue.Receive) {
	w.int(q.Max)
	w.optional(q.Timeout)
	w.string(q.Attempt)
}

func getReceive(r *reader) (q queue.Receive) {
	q.Max = r.int()
	q.Timeout = r.optional()
	q.Attempt = r.string()
	return q
}

func putDelivery(w *writer, d *queue.Delivery) {
	w.uint(uint64(d.Position))
	w.uint(d.Receipt)
	w.uint(d.Receives)
	w.instant(d.First)
	w.instant(d.Until)
}

func getDelivery(r *reader, d *queue.Delivery) {
	d.Position = queue.Position(r.uint())
	d.Receipt = r.uint()
	d.Receives = r.uint()
	d.First = r.instant()
	d.Until = r.instant()
}

func putStored(w *writer, m *queue.Message) {
	w.raw(m.ID[:])
	w.raw(m.BodyMD5[:])
	w.instant(m.SentAt)
	w.string(m.Sender)
	w.string(m.Group)
	w.string(m.Dedup)
	w.string(m.Trace)
	w.uint(m.Sequence)
	w.string(m.Source)
	w.uint(m.PriorReceives)
	w.instant(m.PriorFirst)
	putAll(w, m.Attributes, putAttribute)
	w.string(m.Body)
}

func getStored(r *reader, m *queue.Message) {
	copy(m.ID[:], r.raw(16))
	copy(m.BodyMD5[:], r.raw(16))
	m.SentAt = r.instant()
	m.Sender = r.string()
	m.Group = r.ownString() // which the engine keeps
	m.Dedup = r.string()
	m.Trace = r.string()
	m.Sequence = r.uint()
	m.Source = r.string()
	m.PriorReceives = r.uint()
	m.PriorFirst = r.instant()
	m.Attributes = getAll(r, sizeAttribute, getAttribute)
	m.Body = r.string()
}

func putMessage(w *writer, m *shard.Message) {
	putDelivery(w, &m.Delivery)
	putStored(w, &m.Message)
}

func getMessage(r *reader, m *shard.Message) {
	getDelivery(r, &m.Delivery)
	getStored(r, &m.Message)
}

func putTransfer(w *writer, m *queue.Transfer) {
	w.uint(uint64(m.Position))
	putStored(w, &m.Message)
}

func getTransfer(r *reader, m *queue.Transfer) {
	m.Position = queue.Position(r.uint())
	getStored(r, &m.Message)
}

func putReceipt(w *writer, x *queue.Receipt) {
	w.uint(uint64(x.Position))
	w.uint(x.Number)
}

func getReceipt(r *reader, x *queue.Receipt) {
	x.Position = queue.Position(r.uint())
	x.Number = r.uint()
}

func putVisibility(w *writer, v *queue.Visibility) {
	putReceipt(w, &v.Receipt)
	w.duration(v.Timeout)
}

func getVisibility(r *reader, v *queue.Visibility) {
	getReceipt(r, &v.Receipt)
	v.Timeout = r.duration()
}

func putCounts(w *writer, c *queue.Counts) {
	w.uint(c.Visible)
	w.uint(c.InFlight)
	w.uint(c.Delayed)
}

func getCounts(r *reader) queue.Counts {
	return queue.Counts{Visible: r.uint(), InFlight: r.uint(), Delayed: r.uint()}
}

// putMove leaves out the task's Sources: only who starts the task has to say them.
func putMove(w *writer, t *queue.MoveTask) {
	w.string(t.ID)
	w.string(t.Destination)
	w.int(t.Rate)
	w.instant(t.Started)
	w.string(string(t.Status))
	w.uint(t.Moved)
	w.uint(t.ToMove)
	w.string(t.Failure)
}

func getMove(r *reader, t *queue.MoveTask) {
	t.ID = r.ownString() // the engine keeps tasks
	t.Destination = r.ownString()
	t.Rate = r.int()
	t.Started = r.instant()
	t.Status = queue.MoveStatus(r.ownString())
	t.Moved = r.uint()
	t.ToMove = r.uint()
	t.Failure = r.ownString()
}

func putID(w *writer, id *queue.ID) { w.uint(uint64(*id)) }
func getID(r *reader, id *queue.ID) { *id = queue.ID(r.uint()) }
