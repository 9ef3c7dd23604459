package remote

import (
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// The minimum sizes of these in a message, in bytes.
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
	sizeMark       = 2
	// sizePublication is its length, version, topic, id, two texts and two counts.
	sizePublication = 1 + 1 + 1 + 16 + 4
	sizeError       = 1
)

func putAttribute(w *writer, a *queue.Attribute) {
	w.String(a.Name)
	w.String(a.Type)
	w.String(a.Value)
}

func getAttribute(r *reader, a *queue.Attribute) {
	a.Name = r.String()
	a.Type = r.String()
	a.Value = r.String()
}

func putOutgoing(w *writer, o *queue.Outgoing) {
	w.Raw(o.ID[:])
	w.Raw(o.BodyMD5[:])
	w.String(o.Sender)
	w.String(o.Group)
	w.String(o.Dedup)
	w.String(o.Trace)
	w.Optional(o.Delay)
	putAll(w, o.Attributes, putAttribute)
	w.String(o.Body)
}

func getOutgoing(r *reader, o *queue.Outgoing) {
	copy(o.ID[:], r.Raw(16))
	copy(o.BodyMD5[:], r.Raw(16))
	o.Sender = r.String()
	o.Group = r.ownString() // which the engine keeps
	o.Dedup = r.String()
	o.Trace = r.String()
	o.Delay = r.Optional()
	o.Attributes = getAll(r, sizeAttribute, getAttribute)
	o.Body = r.String()
}

func putSent(w *writer, s *queue.Sent) {
	w.Raw(s.ID[:])
	w.Uint(s.Sequence)
	w.Bool(s.Duplicate)
}

func getSent(r *reader, s *queue.Sent) {
	copy(s.ID[:], r.Raw(16))
	s.Sequence = r.Uint()
	s.Duplicate = r.Bool()
}

// putPublication writes a publication as a stored record, which includes the version of its encoding.
func putPublication(w *writer, p *queue.Publication) {
	b := p.Encode()
	w.Uint(uint64(len(b)))
	w.Raw(b)
}

// sizeTopicCount is the minimum size of a publication's count.
const sizeTopicCount = 1

// putTopicCount writes the topic, the number of counters, and the counters; for no count, the empty string.
func putTopicCount(w *writer, c *queue.TopicCount) {
	if c == nil {
		w.String("")
		return
	}
	w.String(c.Topic)
	putCounters(w, c.Counts[:], w.Uint)
}

func getTopicCount(r *reader) *queue.TopicCount {
	c := queue.TopicCount{Topic: r.String()}
	if c.Topic == "" {
		return nil
	}
	getCounters(r, c.Counts[:], r.Uint)
	return &c
}

func getPublication(r *reader, p *queue.Publication) {
	got, err := queue.DecodePublication([]byte(r.String()))
	if err != nil {
		r.Fail()
		return
	}
	*p = *got
}

func putPublished(w *writer, p *queue.Published) { putSent(w, (*queue.Sent)(p)) }
func getPublished(r *reader, p *queue.Published) { getSent(r, (*queue.Sent)(p)) }

func putReceive(w *writer, q *queue.Receive) {
	w.Int(int64(q.Max))
	w.Optional(q.Timeout)
	w.String(q.Attempt)
}

func getReceive(r *reader) (q queue.Receive) {
	q.Max = int(r.Int())
	q.Timeout = r.Optional()
	q.Attempt = r.String()
	return q
}

func putDelivery(w *writer, d *queue.Delivery) {
	w.Uint(uint64(d.Position))
	w.Uint(d.Receipt)
	w.Uint(d.Receives)
	w.Instant(d.First)
	w.Instant(d.Until)
}

func getDelivery(r *reader, d *queue.Delivery) {
	d.Position = queue.Position(r.Uint())
	d.Receipt = r.Uint()
	d.Receives = r.Uint()
	d.First = r.Instant()
	d.Until = r.Instant()
}

func putStored(w *writer, m *queue.Message) {
	w.Raw(m.ID[:])
	w.Raw(m.BodyMD5[:])
	w.Instant(m.SentAt)
	w.String(m.Sender)
	w.String(m.Group)
	w.String(m.Dedup)
	w.String(m.Trace)
	w.Uint(m.Sequence)
	w.String(m.Source)
	w.Uint(m.PriorReceives)
	w.Instant(m.PriorFirst)
	putAll(w, m.Attributes, putAttribute)
	w.String(m.Body)
}

func getStored(r *reader, m *queue.Message) {
	copy(m.ID[:], r.Raw(16))
	copy(m.BodyMD5[:], r.Raw(16))
	m.SentAt = r.Instant()
	m.Sender = r.String()
	m.Group = r.ownString() // which the engine keeps
	m.Dedup = r.String()
	m.Trace = r.String()
	m.Sequence = r.Uint()
	m.Source = r.String()
	m.PriorReceives = r.Uint()
	m.PriorFirst = r.Instant()
	m.Attributes = getAll(r, sizeAttribute, getAttribute)
	m.Body = r.String()
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
	w.Uint(uint64(m.Position))
	putStored(w, &m.Message)
}

func getTransfer(r *reader, m *queue.Transfer) {
	m.Position = queue.Position(r.Uint())
	getStored(r, &m.Message)
}

func putReceipt(w *writer, x *queue.Receipt) {
	w.Uint(uint64(x.Position))
	w.Uint(x.Number)
}

func getReceipt(r *reader, x *queue.Receipt) {
	x.Position = queue.Position(r.Uint())
	x.Number = r.Uint()
}

func putVisibility(w *writer, v *queue.Visibility) {
	putReceipt(w, &v.Receipt)
	w.Duration(v.Timeout)
}

func getVisibility(r *reader, v *queue.Visibility) {
	getReceipt(r, &v.Receipt)
	v.Timeout = r.Duration()
}

func putCounts(w *writer, c *queue.Counts) {
	w.Uint(c.Visible)
	w.Uint(c.InFlight)
	w.Uint(c.Delayed)
}

func getCounts(r *reader) queue.Counts {
	return queue.Counts{Visible: r.Uint(), InFlight: r.Uint(), Delayed: r.Uint()}
}

// putMove omits the task's Sources: only the call that starts the task needs them.
func putMove(w *writer, t *queue.MoveTask) {
	w.String(t.ID)
	w.String(t.Destination)
	w.Int(int64(t.Rate))
	w.Instant(t.Started)
	w.String(string(t.Status))
	w.Uint(t.Moved)
	w.Uint(t.ToMove)
	w.String(t.Failure)
}

func getMove(r *reader, t *queue.MoveTask) {
	t.ID = r.ownString() // the engine keeps tasks
	t.Destination = r.ownString()
	t.Rate = int(r.Int())
	t.Started = r.Instant()
	t.Status = queue.MoveStatus(r.ownString())
	t.Moved = r.Uint()
	t.ToMove = r.Uint()
	t.Failure = r.ownString()
}

func putID(w *writer, id *queue.ID) { w.Uint(uint64(*id)) }
func getID(r *reader, id *queue.ID) { *id = queue.ID(r.Uint()) }

func putMark(w *writer, m *queue.Mark) {
	w.Int(int64(m.From.Shard))
	w.Uint(uint64(m.UpTo))
}

func getMark(r *reader, m *queue.Mark) {
	m.From.Shard = int(r.Int())
	m.UpTo = queue.Position(r.Uint())
}
