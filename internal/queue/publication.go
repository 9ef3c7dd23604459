package queue

import (
	"fmt"
	"slices"
)

// Publication is a message published to a topic, with its copies: one for each subscription that receives it.
type Publication struct {
	// Topic is the internal queue of a FIFO topic, which has its deduplication ids and sequence numbers; 0 for a
	// standard topic.
	Topic ID
	ID    MessageID // in the publisher's answer
	// Group and Dedup are set for publications to FIFO topics.
	Group, Dedup string
	Copies       []Copy
	// Count is counted if the publication is accepted and is not a repetition. It may be nil.
	Count *TopicCount
}

// TopicAccount returns the account of the topic of publications, or "" if they are not counted.
func TopicAccount(publications []Publication) string {
	if len(publications) == 0 || publications[0].Count == nil {
		return ""
	}
	return accountOf(publications[0].Count.Topic)
}

// Copy is the copy of a publication for one queue. It has the delay of the queue:
// Message.Delay is not used.
type Copy struct {
	Queue   ID
	Message Outgoing // for a FIFO queue with Group and Dedup
	// Tail follows Message.Body in the body of the copy. Copies with the same beginning share its memory, and its space
	// in messages between nodes.
	Tail string
	// SequenceAt is where in Message.Body the engine writes the 20 digits of the
	// publication's sequence number, over the zeros that are there; 0 means nowhere.
	//
	// Message.BodyMD5 is used only without Tail and SequenceAt.
	SequenceAt int
}

// size returns the size of the parts of the copy whose length the publisher chose, in bytes.
func (c *Copy) size() int {
	n := len(c.Message.Body) + len(c.Tail)
	for _, a := range c.Message.Attributes {
		n += len(a.Name) + len(a.Type) + len(a.Value)
	}
	return n
}

// Encode returns the record of a publication, without Count. Nodes send it to each other, too.
//
//	version | Topic | ID | Group | Dedup
//	number of messages | each: BodyMD5 | Sender | Group | Dedup | Trace | attributes | Body
//	number of copies   | each: Queue | ID | number of its message, from 0 | Tail | SequenceAt
//
// Copies that differ only in their own fields share one message.
func (p *Publication) Encode() []byte {
	var messages distinct
	numbers := make([]int, len(p.Copies))
	for i := range p.Copies {
		numbers[i] = messages.number(&p.Copies[i].Message)
	}
	size := 64
	for _, m := range messages {
		size += 64 + len(m.Body)
	}
	w := newRecord(size + 32*len(p.Copies))
	w.Uint(uint64(p.Topic))
	w.Raw(p.ID[:])
	w.String(p.Group)
	w.String(p.Dedup)
	w.Uint(uint64(len(messages)))
	for _, m := range messages {
		w.Raw(m.BodyMD5[:])
		w.String(m.Sender)
		w.String(m.Group)
		w.String(m.Dedup)
		w.String(m.Trace)
		w.attributes(m.Attributes)
		w.String(m.Body)
	}
	w.Uint(uint64(len(p.Copies)))
	for i := range p.Copies {
		c := &p.Copies[i]
		w.Uint(uint64(c.Queue))
		w.Raw(c.Message.ID[:])
		w.Uint(uint64(numbers[i]))
		w.String(c.Tail)
		w.Uint(uint64(c.SequenceAt))
	}
	return w.Writer
}

// distinct are the messages of a publication's record.
type distinct []*Outgoing

// number returns the number of a message. It adds the message unless one of the last few is alike.
func (d *distinct) number(m *Outgoing) int {
	const remembered = 8
	for n := len(*d) - 1; n >= max(0, len(*d)-remembered); n-- {
		if alike((*d)[n], m) {
			return n
		}
	}
	*d = append(*d, m)
	return len(*d) - 1
}

// Divide divides publications to a standard topic into parts whose records take at most about most bytes. It keeps
// their order. A publication with many copies is divided, too: each of its parts has its id, and the first has its
// Count. A single copy may be longer than most.
func Divide(publications []Publication, most int) (parts [][]Publication) {
	room := 0
	var part []Publication
	for _, p := range publications {
		for rest, first := p.Copies, true; first || len(rest) > 0; first = false {
			n, size := fitting(rest, room)
			if n == 0 && len(rest) > 0 {
				if len(part) > 0 {
					parts, part = append(parts, part), nil
				}
				if n, size = fitting(rest, most); n == 0 {
					n, size = 1, most
				}
				room = most
			}
			p.Copies, rest = rest[:n], rest[n:]
			part, room = append(part, p), room-size
			p.Count = nil
		}
	}
	return append(parts, part)
}

// fitting returns how many of the copies fit into the given number of bytes of a publication's record, and their size
// in bytes.
func fitting(copies []Copy, room int) (n, size int) {
	var messages distinct
	for i := range copies {
		c := &copies[i]
		more := 2*leastCopy + len(c.Tail)
		if before := len(messages); messages.number(&c.Message) == before {
			m := &c.Message
			more += 2*leastMessage + c.size() - len(c.Tail) + len(m.Sender) + len(m.Group) + len(m.Dedup) + len(m.Trace)
		}
		if size+more > room {
			return i, size
		}
		size += more
	}
	return len(copies), size
}

// alike reports whether two messages differ in nothing but their ids.
func alike(a, b *Outgoing) bool {
	return a.BodyMD5 == b.BodyMD5 && a.Body == b.Body && a.Sender == b.Sender && a.Group == b.Group &&
		a.Dedup == b.Dedup && a.Trace == b.Trace && slices.Equal(a.Attributes, b.Attributes)
}

// The minimum sizes of a message of a publication and of a copy, in bytes.
const (
	leastMessage = 16 + 6
	leastCopy    = 16 + 4
)

// DecodePublication reads a record made by Encode.
func DecodePublication(b []byte) (*Publication, error) {
	r := readRecord(b)
	p := &Publication{Topic: ID(r.Uint())}
	copy(p.ID[:], r.Raw(16))
	p.Group, p.Dedup = r.String(), r.String()
	messages := make([]Outgoing, r.count(leastMessage))
	for i := range messages {
		m := &messages[i]
		copy(m.BodyMD5[:], r.Raw(16))
		m.Sender, m.Group, m.Dedup, m.Trace = r.String(), r.String(), r.String(), r.String()
		m.Attributes = r.attributes()
		m.Body = r.String()
	}
	p.Copies = make([]Copy, r.count(leastCopy))
	for i := range p.Copies {
		c := &p.Copies[i]
		c.Queue = ID(r.Uint())
		id := r.Raw(16)
		number := r.Uint()
		c.Tail = r.String()
		at := r.Uint()
		if number >= uint64(len(messages)) || at > 0 && at+SequenceDigits > uint64(len(messages[number].Body)) ||
			at > uint64(len(b)) {
			r.Fail()
			break
		}
		c.Message = messages[number]
		copy(c.Message.ID[:], id)
		c.SequenceAt = int(at)
	}
	if err := r.done("publication"); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return p, nil
}
