package crash

import "time"

// recorder makes a worker's calls and writes them down. Once the service has
// died it is gone for good; the worker gets another for the next round.
type recorder struct {
	service
	*history
	worker string
	round  int
	gone   bool
}

// held is a message that a worker has received.
type held struct {
	name, id, group, sequence, handle string
}

func (r *recorder) begin(op operation, queue string) *call {
	return &call{worker: r.worker, round: r.round, operation: op, queue: queue, began: r.now()}
}

// end writes a call down whose entries, if it has succeeded, have outcomes of
// their own.
func (r *recorder) end(c *call, err error) {
	c.ended = r.now()
	c.outcome, c.reason = outcomeOf(err)
	if c.outcome == unknown {
		r.gone = true
	}
	for _, e := range c.entries {
		if err != nil {
			e.outcome, e.reason = c.outcome, c.reason
		}
	}
	r.add(c)
}

func (r *recorder) create(q spec) error {
	c := r.begin(opCreate, q.name)
	err := r.service.create(q)
	r.end(c, err)
	return err
}

func (r *recorder) drop(queue string) error {
	c := r.begin(opDrop, queue)
	err := r.service.drop(queue)
	r.end(c, err)
	return err
}

// send returns for each letter whether it was accepted.
func (r *recorder) send(queue string, letters []letter) []outcome {
	c := r.begin(opSend, queue)
	answers, err := r.service.send(queue, letters)
	for i, l := range letters {
		e := &entry{call: c, name: l.name, group: l.group, delay: l.delay}
		if err == nil {
			e.id, e.sequence = answers[i].id, answers[i].sequence
			e.outcome, e.reason = outcomeOf(answers[i].err)
		}
		c.entries = append(c.entries, e)
	}
	r.end(c, err)
	return outcomes(c)
}

func (r *recorder) receive(queue string, how receive) ([]held, error) {
	c := r.begin(opReceive, queue)
	c.timeout = how.timeout
	messages, err := r.service.receive(queue, how)
	if err != nil {
		messages = nil
	}
	var out []held
	for _, m := range messages {
		name, damage := nameIn(m.body)
		if damage != nil {
			r.note("body", queue, name, "%v", damage)
		}
		c.entries = append(c.entries, &entry{
			call: c, name: name, group: m.group, id: m.id, sequence: m.sequence, receives: m.receives,
			handle: m.handle, outcome: acknowledged,
		})
		out = append(out, held{name: name, id: m.id, group: m.group, sequence: m.sequence, handle: m.handle})
	}
	r.end(c, err)
	return out, err
}

func (r *recorder) remove(queue string, messages []held) []outcome {
	return r.dispose(opRemove, queue, messages, 0, func(handles []string) ([]error, error) {
		return r.service.remove(queue, handles)
	})
}

func (r *recorder) hide(queue string, messages []held, timeout time.Duration) []outcome {
	return r.dispose(opHide, queue, messages, timeout, func(handles []string) ([]error, error) {
		return r.service.hide(queue, handles, timeout)
	})
}

// dispose makes a call that says for each message what is to become of it.
func (r *recorder) dispose(op operation, queue string, messages []held, timeout time.Duration, f func([]string) ([]error, error)) []outcome {
	c := r.begin(op, queue)
	c.timeout = timeout
	var handles []string
	for _, m := range messages {
		handles = append(handles, m.handle)
		c.entries = append(c.entries, &entry{
			call: c, name: m.name, group: m.group, id: m.id, sequence: m.sequence, handle: m.handle,
		})
	}
	results, err := f(handles)
	for i, e := range c.entries {
		if err == nil {
			e.outcome, e.reason = outcomeOf(results[i])
		}
	}
	r.end(c, err)
	return outcomes(c)
}

func (r *recorder) purge(queue string) error {
	c := r.begin(opPurge, queue)
	err := r.service.purge(queue)
	r.end(c, err)
	return err
}

func (r *recorder) move(queue string, rate int) (string, error) {
	c := r.begin(opMove, queue)
	task, err := r.service.move(queue, rate)
	r.end(c, err)
	return task, err
}

func (r *recorder) cancel(queue, task string) error {
	c := r.begin(opCancel, queue)
	err := r.service.cancel(queue, task)
	r.end(c, err)
	return err
}

// counts is not about any message; it is not written down.
func (r *recorder) counts(queue string) (counts, error) {
	n, err := r.service.counts(queue)
	if o, _ := outcomeOf(err); o == unknown {
		r.gone = true
	}
	return n, err
}

func outcomes(c *call) []outcome {
	var out []outcome
	for _, e := range c.entries {
		out = append(out, e.outcome)
	}
	return out
}
