package queue

import (
	"fmt"
	"slices"
)

// publisher sends the publications of topics to queues, and counts the events of topics. It finds the destinations of
// the copies. backlog holds publications with too many copies for one commit.
type publisher struct {
	*registry
	topics  topicMinutes
	backlog backlog
}

// init makes a publisher that sends to the queues and outboxes of r.
func (pu *publisher) init(r *registry, s *series) {
	*pu = publisher{
		registry: r, topics: newTopicMinutes(r.transaction, s), backlog: newBacklog(r.transaction, pu.sendCopy),
	}
}

// Published is the answer to a publication.
type Published struct {
	ID       MessageID
	Sequence uint64 // 0 in a standard topic
	// Duplicate reports that the topic accepted a publication with the same deduplication id earlier in the interval.
	// ID and Sequence are those of the earlier publication.
	Duplicate bool
}

// Publish accepts publications, in order. It sends the copies for queues of this shard, and puts those for queues of
// other shards into their outboxes, from where they will be sent. It drops a copy for a queue that was deleted
// meanwhile. If the engine knows neither the config nor the deletion of a copy's queue, its configs are out of date:
// the error is ErrNotKnown, and nothing is accepted. A publication that the topic has accepted before changes nothing.
//
// If the copies are too many for one commit, Publish stores the publication, and Advance makes its copies. If too many
// copies of earlier publications are waiting, the error is ErrBacklogFull.
func (pu *publisher) Publish(publications []Publication) ([]Published, error) {
	for i := range publications {
		if topic := publications[i].Topic; topic != 0 && pu.queues[topic] == nil {
			return nil, ErrNoQueue
		}
		if !pu.knowsAll(publications[i].Copies) {
			return nil, ErrNotKnown
		}
	}
	if pu.backlog.refuses(publications) {
		return nil, ErrBacklogFull
	}
	out := make([]Published, 0, len(publications))
	room := pu.backlog.atOnce
	for i := range publications {
		p, err := pu.publish(&publications[i], &room)
		if err != nil {
			return nil, fmt.Errorf("publish: %w", err)
		}
		out = append(out, p)
	}
	return out, nil
}

func (pu *publisher) publish(p *Publication, room *extent) (Published, error) {
	answer := Published{ID: p.ID}
	if p.Topic != 0 {
		earlier, err := pu.number(p, &answer)
		if earlier || err != nil {
			return answer, err
		}
	}
	if err := pu.CountTopic(p.Count); err != nil {
		return answer, err
	}
	p = pu.withoutShelved(p)
	x := &expansion{Publication: p, sequence: answer.Sequence}
	if len(p.Copies) > 0 && (pu.backlog.holds(p.Topic) || !room.take(p)) {
		pu.backlog.add(x)
		return answer, nil
	}
	for i := range p.Copies {
		if err := pu.sendCopy(x, &p.Copies[i]); err != nil {
			return answer, err
		}
	}
	return answer, nil
}

// withoutShelved returns a publication without the copies for queues on the shelf: they are deleted.
func (pu *publisher) withoutShelved(p *Publication) *Publication {
	isShelved := func(c Copy) bool { _, is := pu.shelf[c.Queue]; return is }
	if !slices.ContainsFunc(p.Copies, isShelved) {
		return p
	}
	without := *p
	without.Copies = slices.DeleteFunc(slices.Clone(p.Copies), isShelved)
	return &without
}

// knowsAll reports whether the queues of all copies have a config, or were deleted.
func (pu *publisher) knowsAll(copies []Copy) bool {
	for i := range copies {
		if id := copies[i].Queue; !pu.knows(id) && !pu.isGone(id) {
			return false
		}
	}
	return true
}

// number assigns a sequence number to a publication to a FIFO topic, or finds the earlier publication that it repeats.
func (pu *publisher) number(p *Publication, answer *Published) (earlier bool, err error) {
	topic, err := pu.queueAtPresent(p.Topic)
	if err != nil {
		return false, err
	}
	message := Outgoing{Group: p.Group, Dedup: p.Dedup}
	before, earlier, err := topic.dedup.duplicateOf(&message)
	if err != nil {
		return false, err
	}
	if earlier {
		*answer = Published(before)
		return true, nil
	}
	topic.index.last++ // it holds no messages
	answer.Sequence = topic.index.sequence(topic.index.last)
	topic.dedup.rememberSend(&message, Sent{ID: p.ID, Sequence: answer.Sequence})
	return false, nil
}

// sendCopy sends a copy of a publication to its queue. If the queue was deleted since the publication was accepted, it
// drops the copy, or keeps it for an undo of the deletion. If the queue is unknown, the configs are older than the
// backlog that held the copy: the copy waits until the engine knows more.
func (pu *publisher) sendCopy(x *expansion, c *Copy) error {
	if to := pu.destinationOf(c.Queue, c.Message.Group); to != nil {
		return to.sendCopy(x.message(c))
	}
	switch _, shelved := pu.shelf[c.Queue]; {
	case shelved:
		return pu.shelveCopy(c.Queue, x.message(c))
	case pu.remains.isDeleted(c.Queue):
		return nil
	}
	o, err := pu.hold(c.Queue)
	if err != nil {
		return err
	}
	return o.sendCopy(x.message(c))
}

// sendCopy sends m to the queue.
func (q *queue) sendCopy(m *Outgoing) error {
	if err := q.advance(); err != nil {
		return err
	}
	_, err := q.send(m)
	return err
}

// sendCopy puts m at the end of the outbox, to be sent to the queue.
func (o *outbox) sendCopy(m *Outgoing) error {
	o.put(Transfer{Message: *m.message(o.now), Copy: true})
	return nil
}

// BacklogFull reports whether Publish may return ErrBacklogFull.
func (pu *publisher) BacklogFull() bool { return pu.backlog.bytes >= backlogMost }
