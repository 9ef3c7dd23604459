package topic_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/filter"
)

const account = "111122223333"

var (
	now    = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	news   = topic.Name{Account: account, Region: "us-east-1", Topic: "news"}
	orders = topic.Name{Account: account, Region: "us-east-1", Topic: "orders.fifo"}
)

// rig is topics with their catalog in a store in memory.
type rig struct {
	*testing.T
	store  *store.Store
	topics *topic.Topics
	queues *catalog.Catalog
}

func newRig(t *testing.T, options topic.Options) *rig {
	t.Helper()
	records := storetest.Memory(t)
	r := &rig{T: t, store: records}
	ctl := control.New(control.Options{Store: records})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	options.Control = ctl
	r.topics, r.queues = r.open(options)
	return r
}

func (r *rig) open(options topic.Options) (*topic.Topics, *catalog.Catalog) {
	r.Helper()
	topics, err := topic.Open(options)
	if err != nil {
		r.Fatal(err)
	}
	queues, err := catalog.Open(catalog.Options{Control: options.Control})
	if err != nil {
		r.Fatal(err)
	}
	topics.Use(queues)
	return topics, queues
}

func (r *rig) change(f func(*topic.Tx) error) {
	r.Helper()
	if err := r.topics.Change(r.Context(), f); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) create(n topic.Name, a topic.Attributes) (made *topic.Topic) {
	r.Helper()
	r.change(func(tx *topic.Tx) (err error) {
		made, err = tx.Create(n, a, nil, now)
		return err
	})
	return made
}

func (r *rig) subscribe(n topic.Name, p topic.Protocol, endpoint string) (made *topic.Subscription) {
	r.Helper()
	r.change(func(tx *topic.Tx) (err error) {
		made, err = tx.Subscribe(topic.Subscription{
			Topic: n, Protocol: p, Endpoint: endpoint, Owner: account, Created: now,
		})
		return err
	})
	return made
}

// check compares a fresh reading of the store with the memory.
func (r *rig) check(topics, subscriptions, internal int) {
	r.Helper()
	listed, problems, err := catalog.Check(r.store, topic.Prefix)
	queues := listed.Queues
	if err != nil || len(problems) > 0 || len(queues) != internal {
		r.Errorf("catalog: %d queues, %v, %v", len(queues), problems, err)
	}
	t, s, problems, err := topic.Check(r.store, queues)
	if err != nil || len(problems) > 0 || t != topics || s != subscriptions {
		r.Errorf("%d topics, %d subscriptions, %v, %v", t, s, problems, err)
	}
	t, s = r.topics.Len()
	again, _ := r.open(topic.Options{Control: control.New(control.Options{Store: r.store})})
	if a, b := again.Len(); t != topics || s != subscriptions || a != t || b != s {
		r.Errorf("in memory %d and %d, in the store %d and %d", t, s, a, b)
	}
	if one, other := again.SubscriptionsOf(account, "us-east-1"),
		r.topics.SubscriptionsOf(account, "us-east-1"); fmt.Sprint(ids(one)) != fmt.Sprint(ids(other)) {
		r.Errorf("subscriptions are %v, in the store %v", ids(other), ids(one))
	}
}

func ids(list []*topic.Subscription) (out []string) {
	for _, s := range list {
		out = append(out, s.ARN())
	}
	return out
}

// A topic or subscription has its internal queue from its first moment to its last.
func TestQueuesOfTopicsAndSubscriptions(t *testing.T) {
	t.Parallel()
	r := newRig(t, topic.Options{})
	plain, fifo := r.create(news, topic.Attributes{}),
		r.create(orders, topic.Attributes{Throughput: topic.ThroughputGroup})
	if plain.Queue != 0 || fifo.Queue == 0 {
		t.Errorf("the topics have the queues %d and %d", plain.Queue, fifo.Queue)
	}
	scope := func(id queue.ID) string { return r.queues.ByID(id).Attributes.DedupScope }
	if q := r.queues.ByID(fifo.Queue); !q.Attributes.FIFO || !q.Name.Internal() || scope(fifo.Queue) != "messageGroup" {
		t.Errorf("the queue of the topic is %+v", q)
	}
	r.change(func(tx *topic.Tx) error {
		_, err := tx.Update(fifo, func(t *topic.Topic) error {
			t.Attributes.Throughput = topic.ThroughputTopic
			return nil
		})
		return err
	})
	if got := scope(fifo.Queue); got != "queue" {
		t.Errorf("the deduplication scope is %s", got)
	}
	toQueue, toURL := r.subscribe(news, topic.SQS, "arn:aws:sqs:us-east-1:"+account+":q"),
		r.subscribe(news, topic.HTTPS, "https://example.com/")
	if toQueue.Queue != 0 || toURL.Queue == 0 || r.queues.ByID(toURL.Queue) == nil {
		t.Errorf("the subscriptions have the queues %d and %d", toQueue.Queue, toURL.Queue)
	}
	r.check(2, 2, 2)
	r.change(func(tx *topic.Tx) error { return tx.Unsubscribe(toURL.ID, now) })
	if r.queues.ByID(toURL.Queue) != nil || r.topics.Find(news).Deleted != 1 {
		t.Errorf("the subscription has left %+v, %+v", r.queues.ByID(toURL.Queue), r.topics.Find(news))
	}
	r.check(2, 1, 1)
	for _, one := range []*topic.Topic{plain, fifo} {
		r.change(func(tx *topic.Tx) error {
			done, err := tx.Delete(one, now)
			if !done {
				t.Error("it is not deleted at once")
			}
			return err
		})
	}
	r.check(0, 0, 0)
	for what, f := range map[string]func(*topic.Tx) error{
		"delete": func(tx *topic.Tx) error { _, err := tx.Delete(plain, now); return err },
		"update": func(tx *topic.Tx) error {
			_, err := tx.Update(plain, func(*topic.Topic) error { return nil })
			return err
		},
		"unsubscribe": func(tx *topic.Tx) error { return tx.Unsubscribe(toURL.ID, now) },
	} {
		if err := r.topics.Change(r.Context(), f); !errors.Is(err, topic.ErrNoTopic) &&
			!errors.Is(err, topic.ErrNoSubscription) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A topic with more subscriptions than fit into a commit is deleted in several changes.
func TestDeleteInPieces(t *testing.T) {
	t.Parallel()
	r := newRig(t, topic.Options{})
	made := r.create(news, topic.Attributes{})
	const many = 2500
	for i := range many {
		r.subscribe(news, topic.SQS, fmt.Sprint("arn:aws:sqs:us-east-1:"+account+":q", i))
	}
	_, all := r.topics.Subscribed(news)
	if len(all) != many ||
		!slices.IsSortedFunc(all, func(a, b *topic.Subscription) int { return strings.Compare(a.ID, b.ID) }) {
		t.Fatalf("%d subscriptions", len(all))
	}
	steps := 0
	for done := false; !done; steps++ {
		r.change(func(tx *topic.Tx) (err error) {
			done, err = tx.Delete(made, now)
			return err
		})
	}
	if steps != 3 || len(all) != many {
		t.Errorf("deleted in %d steps", steps)
	}
	r.check(0, 0, 0)
}

// A subscription that was not confirmed in time is removed, and so is one that has ended and was not restored.
func TestForgottenSubscriptions(t *testing.T) {
	t.Parallel()
	r := newRig(t, topic.Options{})
	r.create(news, topic.Attributes{})
	kept := make(map[string]bool)
	for name, c := range map[string]*topic.Confirmation{
		"late": {Expires: now}, "done": {Expires: now, Done: true}, "early": {Expires: now.Add(time.Second)},
		"none": nil,
	} {
		sub := r.subscribe(news, topic.Email, name+"@example.com")
		if c != nil {
			r.change(func(tx *topic.Tx) error { tx.Renew(sub, *c); return nil })
		}
		kept[sub.ID] = name != "late"
	}
	for expires, want := range map[time.Time]bool{now: false, now.Add(time.Second): true} {
		sub := r.subscribe(news, topic.Email, expires.String())
		r.end(sub, expires)
		kept[sub.ID] = want
	}
	forgotten := r.topics.Forgotten(now)
	r.change(func(tx *topic.Tx) error { return tx.Forget(forgotten, now) })
	for id, want := range kept {
		if got := r.topics.Subscription(id) != nil || r.topics.Ended(id) != nil; got != want {
			t.Errorf("%s is there: %t, want %t", id, got, want)
		}
	}
	if len(forgotten) != 2 || len(r.topics.Forgotten(now)) != 0 {
		t.Errorf("%v", ids(forgotten))
	}
	r.check(1, 3, 4)
}

// end ends a subscription so that it can be restored until it expires.
func (r *rig) end(s *topic.Subscription, expires time.Time) (ended *topic.Subscription) {
	r.Helper()
	r.change(func(tx *topic.Tx) (err error) {
		ended, err = tx.End(s.ID, topic.Confirmation{Expires: expires}, now)
		return err
	})
	return ended
}

// An ended subscription is invisible, and keeps its queue, until it is restored, replaced by another, or deleted with
// its topic.
func TestEndedSubscriptions(t *testing.T) {
	t.Parallel()
	r := newRig(t, topic.Options{})
	made := r.create(news, topic.Attributes{})
	sub := r.subscribe(news, topic.HTTP, "http://example.com/")
	other := r.subscribe(news, topic.HTTP, "http://example.com/other")
	seen := func(want *topic.Subscription, deleted int) {
		t.Helper()
		_, all := r.topics.Subscribed(news)
		listed := len(r.topics.SubscriptionsOf(account, "us-east-1"))
		if got := r.topics.To(news, topic.HTTP, "http://example.com/"); got != r.topics.Subscription(sub.ID) ||
			(got == nil) != (want == nil) ||
			len(all) != listed || (r.topics.Ended(sub.ID) == nil) != (want != nil) {
			t.Errorf("%v, %v", got, ids(all))
		}
		if r.topics.Fed(sub.Queue).ID != sub.ID || r.topics.Find(news).Deleted != deleted {
			t.Errorf("%+v", r.topics.Find(news))
		}
		r.check(1, listed, 2)
	}
	seen(sub, 0)
	r.end(sub, now.Add(time.Hour))
	seen(nil, 1)
	r.change(func(tx *topic.Tx) error {
		_, err := tx.UpdateEnded(sub.ID, func(s *topic.Subscription) error {
			s.Ending, s.Confirmation = nil, nil
			return nil
		})
		return err
	})
	seen(sub, 1)
	r.end(sub, now.Add(time.Hour))
	again := r.subscribe(news, topic.HTTP, "http://example.com/")
	if again.ID == sub.ID || r.topics.Ended(sub.ID) != nil || r.topics.Fed(sub.Queue) != nil {
		t.Errorf("%+v", r.topics.Ended(sub.ID))
	}
	r.check(1, 2, 2)
	r.end(other, now.Add(time.Hour))
	r.change(func(tx *topic.Tx) error {
		_, err := tx.Delete(made, now)
		return err
	})
	r.check(0, 0, 0)
}

// The number of restorable subscriptions of a topic is limited, so that records do not pile up.
func TestManyEndedSubscriptions(t *testing.T) {
	t.Parallel()
	r := newRig(t, topic.Options{})
	r.create(news, topic.Attributes{})
	for i := range 1001 {
		sub := r.subscribe(news, topic.SQS, fmt.Sprint(i))
		if got := r.end(sub, now.Add(time.Hour)) != nil; got != (i < 1000) {
			t.Fatalf("%d can be restored: %t", i, got)
		}
	}
	if n := len(r.topics.AllEnded()); n != 1000 || r.topics.Find(news).Deleted != 1001 {
		t.Errorf("%d, %d", n, r.topics.Find(news).Deleted)
	}
}

// A change is all or nothing, including its part in the catalog.
func TestRefusedChange(t *testing.T) {
	t.Parallel()
	r := newRig(t, topic.Options{})
	refused := errors.New("no")
	err := r.topics.Change(t.Context(), func(tx *topic.Tx) error {
		_, err := tx.Create(orders, topic.Attributes{}, nil, now)
		return errors.Join(err, refused)
	})
	if !errors.Is(err, refused) {
		t.Error(err)
	}
	r.check(0, 0, 0)
}

// The first record waits until every program can read it; later ones do not ask. The topics' other needs are met with
// the first.
func TestFirstTopic(t *testing.T) {
	t.Parallel()
	old := errors.New("the node b is too old")
	ready, asked, required, prepared := old, 0, 0, 0
	r := newRig(t, topic.Options{
		Formats: control.Formats{
			Ready:   func(int) error { asked++; return ready },
			Require: func(int) error { required++; return nil },
		},
		Prepare: func(*control.Tx, time.Time) error { prepared++; return nil },
	})
	err := r.topics.Change(t.Context(), func(tx *topic.Tx) error {
		t.Error("the change is made")
		return nil
	})
	if !errors.Is(err, old) || required != 0 {
		t.Errorf("%v, required %d times", err, required)
	}
	ready = nil
	r.create(news, topic.Attributes{})
	ready = old
	r.create(orders, topic.Attributes{})
	if asked != 2 || required != 1 || prepared != 2 {
		t.Errorf("asked %d times, required %d times, prepared %d times", asked, required, prepared)
	}
	// Another program that reads the records needs the format, too.
	needed := 0
	r.open(topic.Options{
		Control: control.New(control.Options{Store: r.store}),
		Formats: control.Formats{Require: func(int) error { needed++; return nil }},
	})
	if needed != 1 {
		t.Errorf("required %d times by reading", needed)
	}
}

// A filter policy that a newer program has accepted and this one cannot read rejects every message, and the reason is
// reported.
func TestFilterOfANewerProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t, topic.Options{})
	r.create(news, topic.Attributes{})
	sub := r.subscribe(news, topic.SQS, "arn:aws:sqs:us-east-1:"+account+":q")
	wants := func() (bool, error) { return r.topics.Subscription(sub.ID).Wants(filter.NewMessage("m", nil)) }
	if ok, err := wants(); !ok || err != nil {
		t.Errorf("without a policy: %t, %v", ok, err)
	}
	r.change(func(tx *topic.Tx) error {
		_, err := tx.UpdateSubscription(sub.ID, func(s *topic.Subscription) error {
			s.Attributes.Filter = `{"a":[{"resembles":"b"}]}`
			return nil
		})
		return err
	})
	if ok, err := wants(); ok || err == nil || !strings.Contains(err.Error(), sub.ARN()) {
		t.Errorf("%t, %v", ok, err)
	}
	_, _, problems, err := topic.Check(r.store, nil)
	if len(problems) != 1 || err != nil {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for arn, want := range map[string]error{
		news.ARN(): nil, "arn:aws-cn:sns:us-east-1:" + account + ":news": nil,
		"":                        errors.New("An ARN must have at least 6 elements, not 1"),
		"arn:aws:sns:us-east-1:1": errors.New("An ARN must have at least 6 elements, not 5"),
		"arn:aws:sqs:us-east-1:" + account + ":news": topic.ErrNotTopic, news.ARN() + ":x": topic.ErrNotTopic,
		"arn:aws:sns::" + account + ":news":        topic.ErrNotTopic,
		"x:aws:sns:us-east-1:" + account + ":news": topic.ErrNotTopic,
	} {
		n, err := topic.ParseARN(arn)
		if fmt.Sprint(err) != fmt.Sprint(want) || err == nil && n != news {
			t.Errorf("%s: %v, %v", arn, n, err)
		}
	}
	for arn, want := range map[string]bool{
		news.ARN() + ":x": true, news.ARN(): false, news.ARN() + ":": false, news.ARN() + ":x:y": false,
	} {
		n, id, err := topic.ParseSubscriptionARN(arn)
		if (err == nil) != want || want && (n != news || id != "x") {
			t.Errorf("%s: %v, %q, %v", arn, n, id, err)
		}
	}
}

func FuzzParseARN(f *testing.F) {
	f.Add(news.ARN())
	f.Add(news.ARN() + ":id")
	f.Fuzz(func(t *testing.T, arn string) {
		n, id, err := topic.ParseSubscriptionARN(arn)
		if err == nil && (id == "" || strings.Contains(id, ":") || n.Account == "" || n.Region == "" || n.Topic == "") {
			t.Errorf("%q is %+v, %q", arn, n, id)
		}
		if n, err := topic.ParseARN(arn); err == nil {
			if again, err := topic.ParseARN(n.ARN()); err != nil || again != n {
				t.Errorf("%q is %+v, then %+v, %v", arn, n, again, err)
			}
		}
	})
}
