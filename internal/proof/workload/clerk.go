package workload

import (
	"fmt"
	"math/rand/v2"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// clerk creates, changes and deletes resources, and creates them again under the same names. It sends a few messages to
// each of its queues, which stay there until the end. It undoes some deletions of queues. Nodes that were absent must
// learn all of that.
//
// A call without an answer may be executed at any later time. The clerk repeats it until there is an answer, and then
// leaves the resource unchanged: its name is not used for another.
type clerk struct {
	label  string
	rng    *rand.Rand
	topic  Resource // of the subscriptions
	slots  []*slot
	all    []Resource // that ever were
	keys   []Key      // likewise
	fresh  int        // how many names of slots were given up
	undoes bool
	doubt  func(*Recorder) bool // makes the call again that had no answer, and reports whether it has one
}

// slot is a name, for which a resource may exist.
type slot struct {
	Resource
	is     bool
	state  State
	key    *Key
	ended  bool // was deleted in the last call, and was a queue: it can come back
	frozen bool // has had a call without an answer
	sent   int
}

// A clerk has this many names of each kind; about half of them are in use.
const slotsOfKind = 12

func newClerk(label string, rng *rand.Rand) *clerk {
	c := &clerk{label: label, rng: rng, topic: Resource{Kind: TopicKind, Name: label + "-topic"}}
	base := &slot{Resource: c.topic}
	c.slots, c.all = []*slot{base}, []Resource{c.topic}
	for _, k := range []Kind{QueueKind, QueueKind, TopicKind, SubscriptionKind, UserKind} {
		for range slotsOfKind {
			c.slots = append(c.slots, c.name(k))
		}
	}
	return c
}

// name returns a slot with a name that was not used yet.
func (c *clerk) name(k Kind) *slot {
	c.fresh++
	r := Resource{Kind: k, Name: fmt.Sprintf("%s-%s%d", c.label, k, c.fresh)}
	switch {
	case k == QueueKind && c.fresh%3 == 0:
		r.Name += ".fifo"
	case k == SubscriptionKind:
		r.Topic = c.topic.Name
	}
	c.all = append(c.all, r)
	return &slot{Resource: r}
}

func (c *clerk) Name() string { return c.label }

func (c *clerk) Step(r *Recorder) {
	if c.doubt != nil {
		if c.doubt(r) {
			c.doubt = nil
		}
		return
	}
	if !c.slots[0].is { // the subscriptions need their topic
		c.make(r, c.slots[0])
		return
	}
	i := 1 + c.rng.IntN(len(c.slots)-1)
	s := c.slots[i]
	if s.frozen {
		c.slots[i] = c.name(s.Kind) // what is there stays there
		return
	}
	switch n := c.rng.IntN(10); {
	case s.ended && c.undoes && n < 5:
		c.undo(r, s)
	case !s.is:
		c.make(r, s)
	case n < 3:
		c.end(r, s)
	case s.Kind == QueueKind && n < 6:
		c.send(r, s)
	case s.Kind == UserKind && n < 6:
		c.turnKey(r, s)
	default:
		c.change(r, s)
	}
}

// do makes a call, and repeats it until there is an answer. done is called when it was acknowledged.
func (c *clerk) do(r *Recorder, s *slot, call func(*Recorder) error, done func()) {
	attempt := func(r *Recorder) bool {
		err := call(r)
		o, _ := history.OutcomeOf(err)
		switch o {
		case history.Acknowledged:
			done()
		case history.Unknown:
			s.frozen = true
		}
		return o != history.Unknown
	}
	if !attempt(r) {
		c.doubt = attempt
	}
}

func (c *clerk) make(r *Recorder, s *slot) {
	s.ended = false
	to := State{Attribute: 1 + c.rng.IntN(1000), Tag: 1 + c.rng.IntN(1000)}
	switch s.Kind {
	case UserKind:
		to.Attribute = 0 // it has no policy yet
	case SubscriptionKind:
		to.Tag = 0
	}
	c.do(r, s, func(r *Recorder) error {
		return r.register(history.Create, s.String(), to.String(), func(g Registry) (err error) {
			s.ARN, err = g.Make(s.Resource, to)
			return err
		})
	}, func() { s.is, s.state = true, to })
	if s.is && s.Kind == QueueKind && !s.frozen {
		c.send(r, s)
	}
}

func (c *clerk) change(r *Recorder, s *slot) {
	from, to := s.state, s.state
	if s.Kind != SubscriptionKind && c.rng.IntN(2) == 0 {
		to.Tag++
	} else {
		to.Attribute++
	}
	c.changeTo(r, s, from, to)
}

func (c *clerk) changeTo(r *Recorder, s *slot, from, to State) {
	c.do(r, s, func(r *Recorder) error {
		return r.register(history.Change, s.String(), to.String(), func(g Registry) error {
			return g.Change(s.Resource, from, to)
		})
	}, func() { s.state = to })
}

// end deletes a resource. A user first loses its policy and its key, a step each.
func (c *clerk) end(r *Recorder, s *slot) {
	switch {
	case s.Kind == UserKind && s.key != nil:
		c.turnKey(r, s)
	case s.Kind == UserKind && s.state.Attribute > 0:
		c.changeTo(r, s, s.state, State{Tag: s.state.Tag})
	default:
		c.do(r, s, func(r *Recorder) error {
			return r.register(history.Drop, s.String(), "", func(g Registry) error { return g.Delete(s.Resource) })
		}, func() { s.is, s.ended = false, s.Kind == QueueKind })
	}
}

// undo restores a deleted queue.
func (c *clerk) undo(r *Recorder, s *slot) {
	s.ended = false
	c.do(r, s, func(r *Recorder) error {
		return r.undoDelete(s.Name, s.state.String())
	}, func() { s.is = true })
}

// turnKey deletes the access key of a user, or creates one if there is none.
func (c *clerk) turnKey(r *Recorder, s *slot) {
	if k := s.key; k != nil {
		c.do(r, s, func(r *Recorder) error {
			return r.register(history.Drop, keyName(*k), "", func(g Registry) error { return g.DeleteKey(s.Name, *k) })
		}, func() { s.key = nil })
		return
	}
	// The name of a key is in the answer: one without an answer cannot be looked up, and its creation is not repeated.
	k, err := r.makeKey(s.Name)
	switch o, _ := history.OutcomeOf(err); o {
	case history.Acknowledged:
		s.key = &k
		c.keys = append(c.keys, k)
	case history.Unknown:
		s.frozen = true
	}
}

// send sends a few messages to a queue.
func (c *clerk) send(r *Recorder, s *slot) {
	var letters []Letter
	for range 1 + c.rng.IntN(3) {
		s.sent++
		l := Letter{Name: fmt.Sprintf("%s/%s/%d", s.Name, c.label, s.sent)}
		if history.IsFIFO(s.Name) {
			l.Group = fmt.Sprintf("g%d", s.sent%3)
		}
		letters = append(letters, l)
	}
	r.Send(s.Name, letters)
}

func keyName(k Key) string { return "key/" + k.ID }

// queues returns all queues that may exist.
func (c *clerk) queues() (out []history.Queue) {
	for _, r := range c.all {
		if r.Kind == QueueKind {
			out = append(out, history.Queue{Name: r.Name})
		}
	}
	return out
}

// inspect looks up all resources that ever existed.
func (c *clerk) inspect(e *Ending) {
	for _, r := range c.all {
		e.inspect(r.String(), func(g Registry) (string, error) { return g.Find(r) })
	}
	for _, k := range c.keys {
		e.inspect(keyName(k), func(g Registry) (string, error) { return g.FindKey(k) })
	}
}
