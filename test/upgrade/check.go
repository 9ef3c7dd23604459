package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Check compares what a server has with what is to be there, and uses all of it. The server has trailDir as
// --trail-dir; later lets time pass on it.
func Check(ctx context.Context, c *Client, want *Content, trailDir string, later func(time.Duration) error) error {
	k := &checker{Client: c, ctx: ctx, trailDir: trailDir}
	errs := []error{k.counted(want)}
	for _, q := range want.Queues {
		if err := k.queue(q); err != nil {
			errs = append(errs, fmt.Errorf("queue %s: %w", q.Name, err))
		}
	}
	for _, u := range want.Users {
		errs = append(errs, k.user(u))
	}
	for _, t := range want.Topics {
		errs = append(errs, k.topic(t))
	}
	errs = append(errs, k.alarms(want.Alarms), k.composites(want.Composites))
	for _, l := range want.Limits {
		errs = append(errs, k.limit(l))
	}
	for _, name := range want.Deleted {
		errs = append(errs, k.gone(name))
	}
	for _, u := range want.Undone {
		errs = append(errs, k.undo(u))
	}
	for _, name := range want.Mutes {
		errs = append(errs, k.mute(name))
	}
	for _, r := range want.Redrives {
		errs = append(errs, k.redrive(r))
	}
	for _, l := range want.Logins {
		errs = append(errs, k.login(l))
	}
	for _, name := range want.Insights {
		errs = append(errs, k.insights(name))
	}
	if err := later(16 * time.Minute); err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, q := range want.Queues {
		if err := k.delayed(q); err != nil {
			errs = append(errs, fmt.Errorf("queue %s: %w", q.Name, err))
		}
	}
	for _, name := range want.Trails {
		errs = append(errs, k.trail(name))
	}
	return errors.Join(errs...)
}

type checker struct {
	*Client
	ctx      context.Context
	trailDir string
}

// persist calls f until it returns nil, for what the server does in its own time.
func (k *checker) persist(f func() error) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if err := f(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

func (k *checker) find(q *Queue) error {
	var found struct{ QueueUrl string }
	err := k.SQS(k.ctx, "GetQueueUrl", map[string]string{"QueueName": q.Name}, &found)
	q.URL = found.QueueUrl
	return err
}

func (k *checker) queue(q *Queue) error {
	if err := k.find(q); err != nil {
		return err
	}
	if err := errors.Join(
		k.attributes(q), k.counts(q, len(q.Visible), len(q.InFlight), len(q.Delayed)), k.tags(q),
	); err != nil {
		return err
	}
	if q.Attributes["FifoQueue"] == "true" {
		return k.fifo(q)
	}
	got, err := k.receive(q)
	if err != nil {
		return err
	}
	if err := same(got, q.Visible, false); err != nil {
		return err
	}
	for _, m := range q.InFlight { // with the handles of the old server
		if err := k.SQS(
			k.ctx, "DeleteMessage", map[string]string{"QueueUrl": q.URL, "ReceiptHandle": m.Handle}, nil,
		); err != nil {
			return err
		}
	}
	return k.counts(q, 0, len(q.Visible), len(q.Delayed))
}

func (k *checker) attributes(q *Queue) error {
	var found struct{ Attributes map[string]string }
	if err := k.SQS(
		k.ctx, "GetQueueAttributes", map[string]any{"QueueUrl": q.URL, "AttributeNames": []string{"All"}}, &found,
	); err != nil {
		return err
	}
	for name, value := range q.Attributes {
		if found.Attributes[name] != value {
			return fmt.Errorf("its %s is %q, not %q", name, found.Attributes[name], value)
		}
	}
	return nil
}

func (k *checker) counts(q *Queue, visible, inFlight, delayed int) error {
	var found struct{ Attributes map[string]string }
	if err := k.SQS(
		k.ctx, "GetQueueAttributes", map[string]any{"QueueUrl": q.URL, "AttributeNames": []string{"All"}}, &found,
	); err != nil {
		return err
	}
	for name, want := range map[string]int{"": visible, "NotVisible": inFlight, "Delayed": delayed} {
		if got := found.Attributes["ApproximateNumberOfMessages"+name]; got != strconv.Itoa(want) {
			return fmt.Errorf("ApproximateNumberOfMessages%s is %s, not %d", name, got, want)
		}
	}
	return nil
}

func (k *checker) tags(q *Queue) error {
	var found struct{ Tags map[string]string }
	if err := k.SQS(k.ctx, "ListQueueTags", map[string]string{"QueueUrl": q.URL}, &found); err != nil {
		return err
	}
	for key, value := range q.Tags {
		if found.Tags[key] != value {
			return fmt.Errorf("its tag %s is %q, not %q", key, found.Tags[key], value)
		}
	}
	return nil
}

// receive receives all that can be received, and leaves it in flight.
func (k *checker) receive(q *Queue) (all []*Message, err error) {
	for {
		var got struct{ Messages []*received }
		if err := k.SQS(k.ctx, "ReceiveMessage", map[string]any{
			"QueueUrl": q.URL, "MaxNumberOfMessages": 10, "VisibilityTimeout": 40_000,
			"AttributeNames": []string{"All"}, "MessageAttributeNames": []string{"All"},
		}, &got); err != nil {
			return nil, err
		}
		if len(got.Messages) == 0 {
			return all, nil
		}
		for _, m := range got.Messages {
			all = append(all, &Message{
				ID: m.MessageId, Body: m.Body, Group: m.Attributes["MessageGroupId"],
				Dedup:     m.Attributes["MessageDeduplicationId"],
				Attribute: m.MessageAttributes["kind"].StringValue, Handle: m.ReceiptHandle,
			})
		}
	}
}

// same compares messages, in any order or in that of their groups.
func same(got, want []*Message, inOrder bool) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d messages were received, not %d", len(got), len(want))
	}
	next := make(map[string]int) // by group: the position in want that was reached
	for _, g := range got {
		i := slices.IndexFunc(want, func(w *Message) bool { return w.ID == g.ID })
		if i < 0 {
			return fmt.Errorf("the message %s was received, which was not sent", g.ID)
		}
		w := want[i]
		if g.Body != w.Body || g.Attribute != w.Attribute || g.Group != w.Group || g.Dedup != w.Dedup {
			return fmt.Errorf("the message %s is not what it was", g.ID)
		}
		if inOrder && i < next[g.Group] {
			return fmt.Errorf("the message %s came late", g.ID)
		}
		next[g.Group] = i
	}
	return nil
}

// fifo checks the order, that the group of what is in flight waits, and that duplicates are known.
func (k *checker) fifo(q *Queue) error {
	var free []*Message
	waiting := make(map[string][]*Message)
	for _, m := range q.Visible {
		if m.Group == q.InFlight[0].Group {
			waiting[m.Group] = append(waiting[m.Group], m)
		} else {
			free = append(free, m)
		}
	}
	got, err := k.receive(q)
	if err != nil {
		return err
	}
	if err := same(got, free, true); err != nil {
		return err
	}
	for _, m := range append(slices.Clone(q.Visible), q.InFlight...) {
		var sent struct{ MessageId string }
		if err := k.SQS(k.ctx, "SendMessage", map[string]string{
			"QueueUrl": q.URL, "MessageBody": m.Body, "MessageGroupId": m.Group, "MessageDeduplicationId": m.Dedup,
		}, &sent); err != nil {
			return err
		}
		if sent.MessageId != m.ID {
			return fmt.Errorf("the duplicate of %s is a message of its own, %s", m.ID, sent.MessageId)
		}
	}
	held := q.InFlight[0]
	if err := k.SQS(
		k.ctx, "DeleteMessage", map[string]string{"QueueUrl": q.URL, "ReceiptHandle": held.Handle}, nil,
	); err != nil {
		return err
	}
	if got, err = k.receive(q); err != nil {
		return err
	}
	return same(got, waiting[held.Group], true)
}

func (k *checker) user(u User) error {
	as := *k.Client
	as.ID, as.Secret = u.ID, u.Secret
	if err := as.SQS(k.ctx, "GetQueueUrl", map[string]string{"QueueName": "jobs"}, nil); err != nil {
		return fmt.Errorf("user %s: %w", u.Name, err)
	}
	var refusal *Refusal
	if err := as.SQS(k.ctx, "GetQueueUrl", map[string]string{"QueueName": "dead"}, nil); !errors.As(err, &refusal) {
		return fmt.Errorf("user %s may do what it may not: %w", u.Name, err)
	}
	return nil
}

func (k *checker) topic(t Topic) error {
	if err := k.Query(k.ctx, "sns", "Publish", nil, "TopicArn", t.ARN, "Message", "later news"); err != nil {
		return err
	}
	q := &Queue{Name: t.Queue}
	if err := k.find(q); err != nil {
		return err
	}
	got, err := k.receive(q)
	if err == nil && (len(got) != 1 || got[0].Body != "later news") {
		err = fmt.Errorf("topic %s: %d messages have come", t.ARN, len(got))
	}
	return err
}

func (k *checker) alarms(names []string) error {
	if len(names) == 0 {
		return nil
	}
	var found struct{ MetricAlarms []struct{ AlarmName string } }
	if err := k.CloudWatch(k.ctx, "DescribeAlarms", map[string]any{"AlarmNames": names}, &found); err != nil {
		return err
	}
	if len(found.MetricAlarms) != len(names) {
		return fmt.Errorf("there are %d alarms, not %d", len(found.MetricAlarms), len(names))
	}
	return nil
}

func (k *checker) composites(names []string) error {
	if len(names) == 0 {
		return nil
	}
	var found struct {
		CompositeAlarms []struct{ AlarmName, AlarmRule string }
	}
	in := map[string]any{"AlarmNames": names, "AlarmTypes": []string{"CompositeAlarm"}}
	if err := k.CloudWatch(k.ctx, "DescribeAlarms", in, &found); err != nil {
		return err
	}
	if len(found.CompositeAlarms) != len(names) || found.CompositeAlarms[0].AlarmRule == "" {
		return fmt.Errorf("the composite alarms are %+v, not %q", found.CompositeAlarms, names)
	}
	return nil
}

// delayed checks that what was delayed is there in the end.
func (k *checker) delayed(q *Queue) error {
	if len(q.Delayed) == 0 {
		return nil
	}
	got, err := k.receive(q)
	if err != nil {
		return err
	}
	return same(got, q.Delayed, false)
}
