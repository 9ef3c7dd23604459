package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// worker is one connection with its measurements.
type worker struct {
	*run
	*client
	buf   []byte
	times map[string]*latencies
}

// work runs f with a connection of its own.
func (r *run) work(ctx context.Context, f func(*worker)) {
	c, err := newClient(r.Target)
	if err != nil {
		r.fail(ctx, err)
		return
	}
	w := &worker{run: r, client: c, times: make(map[string]*latencies)}
	f(w)
	w.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for operation, l := range w.times {
		r.latencies(operation).merge(l)
	}
}

// timed makes the call that is in the buffer. Its time counts from began.
func (w *worker) timed(ctx context.Context, operation string, began time.Time) ([]byte, error) {
	answer, err := w.call(ctx, operation, w.buf)
	if err != nil {
		w.fail(ctx, err)
		return nil, err
	}
	w.took(operation, time.Since(began))
	return answer, nil
}

func (w *worker) took(operation string, d time.Duration) {
	l := w.times[operation]
	if l == nil {
		l = new(latencies)
		w.times[operation] = l
	}
	l.add(d)
}

// late stands in place of an operation for how late the client itself begins the calls of a schedule.
const late = "late"

// moreWhenDue waits until a call of the schedule is due. It returns how many messages the call sends, and when it was
// due.
func (w *worker) moreWhenDue(uint64) (n uint64, due time.Time) {
	due, waited, ok := w.schedule.next()
	if !ok {
		return 0, time.Time{}
	}
	if waited {
		w.took(late, time.Since(due))
	}
	return uint64(w.Batch), due
}

// produce sends messages until ctx ends or more, which gets how many there were so far, wants none. more also returns
// from when the time of the call counts.
func (r *run) produce(ctx context.Context, producer int, more func(w *worker, sent uint64) (uint64, time.Time)) {
	r.work(ctx, func(w *worker) {
		for number := uint64(0); ctx.Err() == nil; {
			n, began := more(w, number)
			n = min(n, uint64(r.Batch))
			if n == 0 {
				return
			}
			_, err := w.timed(ctx, w.send(producer, number, int(n)), began)
			r.ledger.sent(producer, number, n, err == nil)
			number += n
			if err == nil {
				r.produced.Add(n)
			}
		}
	})
}

// consume receives and deletes until ctx ends or over returns true. It deletes all messages that it has received.
func (r *run) consume(ctx context.Context, over func() bool) {
	r.work(ctx, func(w *worker) {
		for ctx.Err() == nil && !over() {
			w.buf = fmt.Appendf(w.buf[:0], `{"QueueUrl":%q,"MaxNumberOfMessages":%d,"WaitTimeSeconds":1}`, r.url, r.Batch)
			answer, err := w.timed(ctx, "ReceiveMessage", time.Now())
			if err != nil {
				continue
			}
			messages, err := parseMessages(answer)
			if err != nil {
				r.fail(ctx, err)
				continue
			}
			if len(messages) == 0 {
				continue
			}
			// Before the delete: after it, another consumer may have the next message of a FIFO group.
			r.arrival.Store(time.Now().UnixNano())
			for _, m := range messages {
				r.ledger.arrived(r.id, m.body, r.FIFO)
			}
			if _, err := w.timed(ctx, w.remove(messages), time.Now()); err == nil {
				r.consumed.Add(uint64(len(messages)))
			}
		}
	})
}

// sendOperation returns the operation that sends.
func (r *run) sendOperation() string {
	if r.Batch == 1 {
		return "SendMessage"
	}
	return "SendMessageBatch"
}

// send puts a call that sends n messages into the buffer.
func (w *worker) send(producer int, number uint64, n int) (operation string) {
	b := append(w.buf[:0], `{"QueueUrl":`...)
	b = strconv.AppendQuote(b, w.url)
	if w.Batch == 1 {
		b = append(b, ',')
		b = w.appendMessage(b, producer, number)
		w.buf = append(b, '}')
		return w.sendOperation()
	}
	b = append(b, `,"Entries":[`...)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"Id":"%d",`, i)
		b = w.appendMessage(b, producer, number+uint64(i))
		b = append(b, '}')
	}
	w.buf = append(b, "]}"...)
	return w.sendOperation()
}

func (w *worker) appendMessage(b []byte, producer int, number uint64) []byte {
	group := w.group(producer, number)
	b = append(b, `"MessageBody":"`...)
	b = appendBody(b, w.id, producer, number, group, w.Size)
	b = append(b, '"')
	if w.FIFO {
		b = fmt.Appendf(b, `,"MessageGroupId":"g%d","MessageDeduplicationId":"%s-%d-%d"`, group, w.id, producer, number)
	}
	return b
}

// group distributes the groups among the producers.
func (w *worker) group(producer int, number uint64) int {
	producers := max(1, w.Producers)
	if each := w.Groups / producers; each > 1 {
		producer += int(number%uint64(each)) * producers
	}
	return producer % w.Groups
}

// remove puts a call that deletes messages into the buffer.
func (w *worker) remove(messages []message) (operation string) {
	b := append(w.buf[:0], `{"QueueUrl":`...)
	b = strconv.AppendQuote(b, w.url)
	if w.Batch == 1 {
		b = append(b, `,"ReceiptHandle":`...)
		b = strconv.AppendQuote(b, messages[0].handle)
		w.buf = append(b, '}')
		return "DeleteMessage"
	}
	b = append(b, `,"Entries":[`...)
	for i, m := range messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"Id":"%d","ReceiptHandle":%q}`, i, m.handle)
	}
	w.buf = append(b, "]}"...)
	return "DeleteMessageBatch"
}

// message is the part of a message that a consumer needs.
type message struct{ body, handle string }

// parseMessages reads the answer to a receive. Services write compact JSON, in which a handle and a body, ours without
// anything to escape, can be found by looking for their names; an answer that looks different is parsed in full.
func parseMessages(answer []byte) ([]message, error) {
	var quick []message
	handles, bodies := answer, answer
	for {
		handle, restH, okH := stringAfter(handles, `"ReceiptHandle":"`)
		body, restB, okB := stringAfter(bodies, `"Body":"`)
		if !okH && !okB {
			break
		}
		if !okH || !okB {
			quick = nil
			break
		}
		quick = append(quick, message{body: body, handle: handle})
		handles, bodies = restH, restB
	}
	if len(quick) > 0 {
		return quick, nil
	}
	var out struct {
		Messages []struct{ Body, ReceiptHandle string }
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, fmt.Errorf("ReceiveMessage: %w", err)
	}
	messages := make([]message, 0, len(out.Messages))
	for _, m := range out.Messages {
		messages = append(messages, message{m.Body, m.ReceiptHandle})
	}
	return messages, nil
}

func stringAfter(b []byte, name string) (value string, rest []byte, ok bool) {
	i := bytes.Index(b, []byte(name))
	if i < 0 {
		return "", nil, false
	}
	b = b[i+len(name):]
	end := bytes.IndexAny(b, `"\`)
	if end < 0 || b[end] == '\\' {
		return "", nil, false
	}
	return string(b[:end]), b[end:], true
}
