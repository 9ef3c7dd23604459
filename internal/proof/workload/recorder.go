package workload

import (
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// Recorder makes a worker's calls and records them.
type Recorder struct {
	*Journal
	Worker string
	// Pick returns the node to call next; its name may be empty.
	Pick func() (node string, s Service)
	// Gone is set by a call that had no answer. Workers end their step then.
	Gone bool
}

// To returns a function that always picks one service.
func To(s Service) func() (string, Service) {
	return func() (string, Service) { return "", s }
}

// held is a message that a worker has received.
type held struct {
	name, id, group, sequence, handle string
}

func (r *Recorder) begin(op history.Operation, queue string) (*history.Call, Service) {
	node, s := r.Pick()
	return &history.Call{Worker: r.Worker, Node: node, Operation: op, Queue: queue, Began: r.Now()}, s
}

// end records a call whose entries, if it has succeeded, have outcomes of their own.
func (r *Recorder) end(c *history.Call, err error) {
	c.Ended = r.Now()
	c.Outcome, c.Reason = history.OutcomeOf(err)
	if c.Outcome == history.Unknown {
		r.Gone = true
	}
	for _, e := range c.Entries {
		if err != nil {
			e.Outcome, e.Reason = c.Outcome, c.Reason
		}
	}
	r.Add(c)
}

// Create makes a queue.
func (r *Recorder) Create(q history.Queue) error {
	c, s := r.begin(history.Create, q.Name)
	err := s.Create(q)
	r.end(c, err)
	return err
}

// register makes a call about a resource whose state is to be that, or empty for none.
func (r *Recorder) register(op history.Operation, resource, state string, f func(Registry) error) error {
	c, s := r.begin(op, resource)
	c.State = state
	err := f(s.(Registry))
	r.end(c, err)
	return err
}

// makeKey makes an access key. Its name in the history has the key's id, or the user's if there is no answer.
func (r *Recorder) makeKey(user string) (k Key, err error) {
	c, s := r.begin(history.Create, "key of "+user)
	if k, err = s.(Registry).MakeKey(user); err == nil {
		c.Queue, c.State = keyName(k), user
	}
	r.end(c, err)
	return k, err
}

func (r *Recorder) drop(queue string) error {
	c, s := r.begin(history.Drop, queue)
	err := s.Drop(queue)
	r.end(c, err)
	return err
}

// createTopic makes a topic.
func (r *Recorder) createTopic(t history.Topic) error {
	c, s := r.begin(history.Create, t.Name)
	err := s.CreateTopic(t)
	r.end(c, err)
	return err
}

// Send returns for each letter whether it was accepted.
func (r *Recorder) Send(queue string, letters []Letter) []history.Outcome {
	c, s := r.begin(history.Send, queue)
	answers, err := s.Send(queue, letters)
	return r.sent(c, letters, answers, err)
}

// publish is Send to a topic.
func (r *Recorder) publish(topic string, letters []Letter) []history.Outcome {
	c, s := r.begin(history.Publish, topic)
	answers, err := s.Publish(topic, letters)
	return r.sent(c, letters, answers, err)
}

func (r *Recorder) sent(c *history.Call, letters []Letter, answers []Sent, err error) []history.Outcome {
	for i, l := range letters {
		e := &history.Entry{Call: c, Name: l.Name, Group: l.Group, Delay: l.Delay}
		if err == nil {
			e.ID, e.Sequence = answers[i].ID, answers[i].Sequence
			e.Outcome, e.Reason = history.OutcomeOf(answers[i].Err)
		}
		c.Entries = append(c.Entries, e)
	}
	r.end(c, err)
	return outcomes(c)
}

func (r *Recorder) receive(queue string, how Receive) ([]held, error) {
	c, s := r.begin(history.Receive, queue)
	c.Timeout, c.Wait = how.Timeout, how.Wait
	messages, err := s.Receive(queue, how)
	if err != nil {
		messages = nil
	}
	var out []held
	for _, m := range messages {
		name, damage := NameIn(m.Body)
		if damage != nil {
			r.Note("body", queue, name, "%v", damage)
		}
		c.Entries = append(c.Entries, &history.Entry{
			Call: c, Name: name, Group: m.Group, ID: m.ID, Sequence: m.Sequence, Receives: m.Receives,
			Handle: m.Handle, Outcome: history.Acknowledged,
		})
		out = append(out, held{name: name, id: m.ID, group: m.Group, sequence: m.Sequence, handle: m.Handle})
	}
	r.end(c, err)
	return out, err
}

func (r *Recorder) remove(queue string, messages []held) []history.Outcome {
	return r.dispose(history.Remove, queue, messages, 0, func(s Service, handles []string) ([]error, error) {
		return s.Remove(queue, handles)
	})
}

func (r *Recorder) hide(queue string, messages []held, timeout time.Duration) []history.Outcome {
	return r.dispose(history.Hide, queue, messages, timeout, func(s Service, handles []string) ([]error, error) {
		return s.Hide(queue, handles, timeout)
	})
}

// dispose makes a call about the future of each message.
func (r *Recorder) dispose(
	op history.Operation, queue string, messages []held, timeout time.Duration,
	f func(Service, []string) ([]error, error),
) []history.Outcome {
	c, s := r.begin(op, queue)
	c.Timeout = timeout
	var handles []string
	for _, m := range messages {
		handles = append(handles, m.handle)
		c.Entries = append(c.Entries, &history.Entry{
			Call: c, Name: m.name, Group: m.group, ID: m.id, Sequence: m.sequence, Handle: m.handle,
		})
	}
	results, err := f(s, handles)
	for i, e := range c.Entries {
		if err == nil {
			e.Outcome, e.Reason = history.OutcomeOf(results[i])
		}
	}
	r.end(c, err)
	return outcomes(c)
}

func (r *Recorder) purge(queue string) error {
	c, s := r.begin(history.Purge, queue)
	err := s.Purge(queue)
	r.end(c, err)
	return err
}

// undoPurge undoes the last purge of a queue.
func (r *Recorder) undoPurge(queue string) error {
	c, s := r.begin(history.UndoPurge, queue)
	err := s.(Undoer).UndoPurge(queue)
	r.end(c, err)
	return err
}

// undoDelete undoes the last deletion of a queue, which had that state, or empty if it is not known.
func (r *Recorder) undoDelete(queue, state string) error {
	c, s := r.begin(history.UndoDelete, queue)
	c.State = state
	err := s.(Undoer).UndoDelete(queue)
	r.end(c, err)
	return err
}

func (r *Recorder) move(queue string, rate int) (string, error) {
	c, s := r.begin(history.Move, queue)
	task, err := s.Move(queue, rate)
	r.end(c, err)
	return task, err
}

func (r *Recorder) cancel(queue, task string) error {
	c, s := r.begin(history.Cancel, queue)
	err := s.Cancel(queue, task)
	r.end(c, err)
	return err
}

// counts is not about any message, and is not recorded.
func (r *Recorder) counts(queue string) (Counts, error) {
	_, s := r.Pick()
	n, err := s.Counts(queue)
	if o, _ := history.OutcomeOf(err); o == history.Unknown {
		r.Gone = true
	}
	return n, err
}

func outcomes(c *history.Call) []history.Outcome {
	var out []history.Outcome
	for _, e := range c.Entries {
		out = append(out, e.Outcome)
	}
	return out
}
