package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/fairshare"
	"github.com/sluicemq/sluice/internal/topic/retry"
)

// endpoint is a sender whose endpoints behave as a test sets.
type endpoint struct {
	mu       sync.Mutex
	answer   map[string]func(ctx context.Context, m *Message) error // by endpoint
	attempts map[string][]string                                    // bodies
	most     map[string]int                                         // deliveries at a time
	now      map[string]int
}

func (e *endpoint) Check(_, endpoint string) error {
	if endpoint == "bad" {
		return errDown
	}
	return nil
}

func (e *endpoint) Timeout() time.Duration { return time.Minute }

func (e *endpoint) Send(ctx context.Context, t *Target, m *Message) error {
	e.mu.Lock()
	e.attempts[t.Endpoint] = append(e.attempts[t.Endpoint], m.Body)
	e.now[t.Endpoint]++
	e.most[t.Endpoint] = max(e.most[t.Endpoint], e.now[t.Endpoint])
	answer := e.answer[t.Endpoint]
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.now[t.Endpoint]--
		e.mu.Unlock()
	}()
	if answer == nil {
		return nil
	}
	return answer(ctx, m)
}

func (e *endpoint) got(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.attempts[name])
}

// together returns the maximum number of concurrent deliveries to an endpoint.
func (e *endpoint) together(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.most[name]
}

func (e *endpoint) answers(name string, f func(ctx context.Context, m *Message) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer[name] = f
}

// rig is a deliverer with a source and endpoints.
type rig struct {
	*source
	*endpoint
	d       *Deliverer
	targets sync.Map // queue.ID → Target
	log     *lockedBuffer
	stop    func()

	unknown  atomic.Int64 // how often an unknown subscription was looked up
	dead     sync.Map     // bodies
	deadErr  error
	deadLost error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newRig(t *testing.T) *rig {
	r := &rig{source: newSource(), log: &lockedBuffer{}, endpoint: &endpoint{
		answer: make(map[string]func(context.Context, *Message) error), attempts: make(map[string][]string),
		most: make(map[string]int), now: make(map[string]int),
	}}
	r.d = New(Options{
		Find: func(id queue.ID) (Target, bool) {
			v, ok := r.targets.Load(id)
			if !ok {
				r.unknown.Add(1)
				return Target{}, false
			}
			return v.(Target), true
		},
		Senders: map[string]Sender{"http": r.endpoint},
		DeadLetter: func(_ context.Context, _ queue.ID, m *queue.Message) (lost, err error) {
			if r.deadErr != nil || r.deadLost != nil {
				return r.deadLost, r.deadErr
			}
			r.dead.Store(m.Body, true)
			return nil, nil
		},
		Counting: func() bool { return true }, Now: r.Now, Log: slog.New(slog.NewTextHandler(r.log, nil)),
	})
	r.d.wait = r.source.wait
	r.run(t)
	return r
}

// run runs the deliverer until the test ends or stop is called.
func (r *rig) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.d.Run(ctx, r.source); !errors.Is(err, context.Canceled) {
			t.Errorf("the deliverer has ended: %v", err)
		}
	}()
	r.stop = func() { cancel(); <-done }
	t.Cleanup(r.stop)
}

// subscribe adds a subscription whose endpoint has the name of its queue.
func (r *rig) subscribe(id queue.ID, p retry.Policy) string {
	name := fmt.Sprintf("endpoint-%d", id)
	r.targets.Store(id, Target{
		Subscription: fmt.Sprintf("arn:sub-%d", id), Topic: "arn:topic", Protocol: "http", Endpoint: name, Policy: p,
	})
	return name
}

func (r *rig) count(o Outcome) uint64 {
	for _, c := range r.d.Counts() {
		if c.Outcome == o {
			return c.Number
		}
	}
	return 0
}

var (
	standard = retry.Effective(retry.Topic{}, retry.Subscription{})
	note     = Note{Type: "Notification"}
	errDown  = errors.New("connection refused")
)

func (r *rig) empty(t *testing.T, id queue.ID) {
	t.Helper()
	r.until(t, "the queue is empty", func() bool { _, n := r.next(id); return n == 0 })
}

func TestDelivers(t *testing.T) {
	r := newRig(t)
	name := r.subscribe(1, standard)
	for i := range 100 {
		r.put(1, note, fmt.Sprint(i))
	}
	r.empty(t, 1)
	if n := r.got(name); n != 100 || r.count(Delivered) != 100 {
		t.Errorf("%d deliveries, %d counted", n, r.count(Delivered))
	}
	r.put(1, note, "later")
	r.empty(t, 1)
}

// A failed delivery is retried if the policy allows it, and then goes to the dead-letter queue.
func TestRetries(t *testing.T) {
	r := newRig(t)
	p := standard
	p.Retries = retry.Retries{
		MinDelayTarget: 10, MaxDelayTarget: 30, NumRetries: 4, NumNoDelayRetries: 1, BackoffFunction: retry.Linear,
	}
	name := r.subscribe(1, p)
	r.answers(name, func(context.Context, *Message) error { return errDown })
	r.put(1, note, "m")
	for attempt, want := range []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second} {
		r.until(t, "a delay", func() bool { in, _ := r.next(1); return in == want && r.got(name) == attempt+2 })
		r.advance(want - time.Millisecond)
		if n := r.got(name); n != attempt+2 {
			t.Fatalf("%d attempts before the delay was over", n)
		}
		r.advance(time.Millisecond)
	}
	r.empty(t, 1)
	if _, dead := r.dead.Load("m"); !dead || r.got(name) != 5 || r.count(Retried) != 4 || r.count(DeadLettered) != 1 {
		t.Errorf("%d attempts, %v", r.got(name), r.d.Counts())
	}
}

// For an ended subscription only the notice of its end is delivered.
func TestEndedSubscription(t *testing.T) {
	r := newRig(t)
	name := r.subscribe(1, standard)
	target, _ := r.targets.Load(queue.ID(1))
	ended := target.(Target)
	ended.Ended = true
	r.targets.Store(queue.ID(1), ended)
	r.put(1, note, "too late")
	r.put(1, Note{Type: "UnsubscribeConfirmation"}, "the end")
	r.put(1, note, "too late")
	r.empty(t, 1)
	if n := r.got(name); n != 1 || r.count(Delivered) != 1 {
		t.Errorf("%d deliveries, %d counted", n, r.count(Delivered))
	}
}

// The outcomes of deliveries are counted for their topic, and nowhere else.
func TestCountsInTopic(t *testing.T) {
	r := newRig(t)
	name := r.subscribe(1, standard)
	counted := func(what string, want [queue.TopicMetrics]uint64) {
		t.Helper()
		r.empty(t, 1)
		r.source.mu.Lock()
		defer r.source.mu.Unlock()
		if got := r.source.counted["arn:topic"]; got != want || len(r.source.counted) > 1 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	r.put(1, note, "a")
	r.put(1, Note{Type: "SubscriptionConfirmation"}, "b")
	counted("the delivered message", [queue.TopicMetrics]uint64{queue.TopicDelivered: 1})
	r.answers(name, func(context.Context, *Message) error { return Permanent(errDown) })
	r.put(1, note, "c")
	counted("the message in the dead-letter queue", [queue.TopicMetrics]uint64{
		queue.TopicDelivered: 1, queue.TopicFailed: 1, queue.TopicRedriven: 1,
	})
	r.deadLost = errors.New("its policy does not allow that")
	r.put(1, note, "d")
	counted("the message that is not", [queue.TopicMetrics]uint64{
		queue.TopicDelivered: 1, queue.TopicFailed: 2, queue.TopicRedriven: 1, queue.TopicNotRedriven: 1,
	})
	r.deadLost = ErrNoDeadLetters
	r.put(1, note, "e")
	counted("the dropped message", [queue.TopicMetrics]uint64{
		queue.TopicDelivered: 1, queue.TopicFailed: 3, queue.TopicRedriven: 1, queue.TopicNotRedriven: 1,
	})
}

func TestPermanentFailures(t *testing.T) {
	r := newRig(t)
	name := r.subscribe(1, standard)
	r.answers(name, func(context.Context, *Message) error { return Permanent(errDown) })
	r.put(1, note, "m")
	r.empty(t, 1)
	if _, dead := r.dead.Load("m"); !dead || r.got(name) != 1 {
		t.Errorf("%d attempts", r.got(name))
	}
}

// Messages without a dead-letter queue are dropped, counted and logged, however many there are.
func TestDropped(t *testing.T) {
	r := newRig(t)
	r.deadLost = errors.New("the subscription has no dead-letter queue")
	name := r.subscribe(1, standard)
	r.answers(name, func(context.Context, *Message) error { return Permanent(errDown) })
	for i := range 20 {
		r.put(1, note, fmt.Sprint(i))
	}
	r.empty(t, 1)
	if r.count(Dropped) != 20 {
		t.Error(r.d.Counts())
	}
	r.until(t, "the log says so", func() bool {
		return strings.Contains(r.log.String(), "messages=1 ") && strings.Count(r.log.String(), "lost") >= 2
	})
	if n := strings.Count(r.log.String(), "lost"); n > 10 {
		t.Errorf("%d lines in the log", n)
	}
	for _, want := range []string{"arn:sub-1", "connection refused", "no dead-letter queue"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log does not contain %q: %s", want, r.log)
		}
	}
}

// A message whose dead-letter queue is unreachable is kept.
func TestDeadLetterQueueThatDoesNotAnswer(t *testing.T) {
	r := newRig(t)
	r.deadErr = errShard
	name := r.subscribe(1, standard)
	r.answers(name, func(context.Context, *Message) error { return Permanent(errDown) })
	r.put(1, note, "m")
	r.until(t, "the message is put off", func() bool { in, n := r.next(1); return n == 1 && in == keepPause })
	if r.count(Dropped)+r.count(DeadLettered) != 0 {
		t.Error(r.d.Counts())
	}
}

// An endpoint that hangs delays no other: however many there are, those that work get their messages.
func TestSlowEndpoints(t *testing.T) {
	r := newRig(t)
	const slow = slowPlaces/2 - 1 // of which one account holds half
	good := r.subscribe(1, standard)
	r.put(1, note, "first")
	r.empty(t, 1)
	for id := queue.ID(2); id < slow+2; id++ {
		name := r.subscribe(id, standard)
		r.answers(name, func(ctx context.Context, _ *Message) error { <-ctx.Done(); return ctx.Err() })
		for range 3 {
			r.put(id, note, "m")
		}
	}
	r.until(t, "all hang", func() bool { return r.d.Sending() == slow })
	for i := range 50 {
		r.put(1, note, fmt.Sprint(i))
	}
	r.empty(t, 1)
	if r.got(good) != 51 || r.asked(2) != 1 {
		t.Errorf("%d deliveries; an endpoint that hangs got %d messages at a time", r.got(good), r.asked(2))
	}
	r.stop()
	if _, n := r.next(2); n != 3 {
		t.Errorf("%d messages are left", n)
	}
	if in, _ := r.next(2); in != 0 {
		t.Errorf("an interrupted delivery is repeated in %s", in)
	}
}

// of adds a subscription of an account at a host.
func (r *rig) of(account, host string, id queue.ID) (endpoint string) {
	endpoint = fmt.Sprintf("http://%s/%d", host, id)
	topic := "arn:aws:sns:us-east-1:" + account + ":t"
	r.targets.Store(id, Target{
		Subscription: fmt.Sprint(topic, ":", id), Topic: topic, Protocol: "http", Endpoint: endpoint, Policy: standard,
	})
	return endpoint
}

func hang(ctx context.Context, _ *Message) error { <-ctx.Done(); return ctx.Err() }

// An account with more hanging endpoints than places does not delay another one, whose endpoints are new or work. Among
// its own hosts, one that hangs does not delay the others.
func TestAccountsShareTheLanes(t *testing.T) {
	r := newRig(t)
	const many = queue.ID(slowPlaces + 100)
	working := r.of("222222222222", "works.example", 1)
	r.put(1, note, "first")
	r.empty(t, 1)
	for id := range many {
		r.answers(r.of("111111111111", "hangs.example", 1000+id), hang)
		r.put(1000+id, note, "m")
	}
	r.until(t, "the host holds all that it may", func() bool { return r.d.Sending() == slowPlaces/3+1 })
	r.of("111111111111", "other.example", 2)
	r.put(2, note, "m")
	r.empty(t, 2)
	for id := range many {
		r.answers(r.of("111111111111", fmt.Sprintf("%d.hangs.example", id), 2000+id), hang)
		r.put(2000+id, note, "m")
	}
	r.until(t, "the account holds all that it may", func() bool { return r.d.Sending() == slowPlaces/2 })
	for i := range 50 {
		r.put(1, note, fmt.Sprint(i))
	}
	r.empty(t, 1)
	for id := range queue.ID(20) {
		r.of("222222222222", "new.example", 9000+id)
		r.put(9000+id, note, "m")
	}
	for id := range queue.ID(20) {
		r.empty(t, 9000+id)
	}
	if n := r.got(working); n != 51 || r.d.Sending() != slowPlaces/2 {
		t.Errorf("%d deliveries, while %d hang", n, r.d.Sending())
	}
}

// An endpoint that accepts messages slowly leaves the fast lane, gets as many at a time as before, and returns to it
// later.
func TestSlowEndpointsLeaveTheFastLane(t *testing.T) {
	r := newRig(t)
	name := r.of("111111111111", "slow.example", 1)
	answer := make(chan struct{})
	r.answers(name, func(ctx context.Context, _ *Message) error {
		select {
		case <-answer:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	for i := range 1 + 3*atOnce {
		r.put(1, note, fmt.Sprint(i))
	}
	lane := func(what string, places *fairshare.Places, most int64, takes time.Duration) {
		t.Helper()
		r.until(t, what,
			func() bool { return r.d.Sending() == most && places.Held("111111111111", "slow.example") == 1 })
		r.advance(takes)
		for range most {
			answer <- struct{}{}
		}
	}
	lane("it begins in the slow lane", r.d.slow, 1, 0)
	lane("it has worked and is in the fast lane", r.d.fast, atOnce, slowAfter)
	lane("it was slow and is in the slow lane", r.d.slow, atOnce, 0)
	lane("it is in the fast lane again", r.d.fast, atOnce, 0)
	r.empty(t, 1)
}

// An endpoint gets several messages at a time while it accepts them, and never more than that.
func TestConcurrencyOfAnEndpoint(t *testing.T) {
	r := newRig(t)
	name := r.subscribe(1, standard)
	var together sync.WaitGroup
	together.Add(atOnce)
	all := make(chan struct{})
	r.answers(name, func(ctx context.Context, m *Message) error {
		if m.Body != "first" {
			together.Done()
			together.Wait()
			return nil
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
		return nil
	})
	r.put(1, note, "first")
	for i := range atOnce {
		r.put(1, note, fmt.Sprint(i))
	}
	close(all)
	r.empty(t, 1)
	if n := r.together(name); n != atOnce {
		t.Errorf("%d deliveries at a time", n)
	}
}

// maxReceivesPerSecond holds, even between bursts.
func TestThrottle(t *testing.T) {
	r := newRig(t)
	p := standard
	p.PerSecond = 2
	name := r.subscribe(1, p)
	for i := range 7 {
		r.put(1, note, fmt.Sprint(i))
	}
	for i := range 7 { // the clock advances after the delivery of its time
		r.until(t, "the deliveries of half a second", func() bool { return r.got(name) > i })
		if n := r.got(name); n > i+2 {
			t.Errorf("%d deliveries after %d half seconds", n, i)
		}
		r.advance(500 * time.Millisecond)
	}
	r.until(t, "the rest", func() bool { r.advance(time.Second); _, n := r.next(1); return n == 0 })
}

// A shard that does not answer is called again, and messages that were delivered and could not be deleted are delivered
// again.
func TestShardThatFails(t *testing.T) {
	r := newRig(t)
	name := r.subscribe(1, standard)
	r.fail(errShard)
	r.put(1, note, "m")
	r.until(t, "the log says so", func() bool { return strings.Contains(r.log.String(), errShard.Error()) })
	r.fail(nil)
	r.until(t, "it is delivered", func() bool { r.advance(longestPause); _, n := r.next(1); return n == 0 })
	if r.got(name) == 0 {
		t.Error("not delivered")
	}
}

// If the server stops during a delivery, the next one repeats it, and no retry is used up.
func TestStopInTheMiddle(t *testing.T) {
	r := newRig(t)
	p := standard
	p.Retries.NumRetries = 0
	name := r.subscribe(1, p)
	r.answers(name, func(ctx context.Context, _ *Message) error { <-ctx.Done(); return ctx.Err() })
	r.put(1, note, "m")
	r.until(t, "it is being delivered", func() bool { return r.got(name) == 1 })
	r.stop()
	r.answers(name, nil)
	r.advance(0)
	r.run(t)
	r.empty(t, 1)
	if r.got(name) != 2 || r.count(Delivered) != 1 {
		t.Errorf("%d attempts, %v", r.got(name), r.d.Counts())
	}
}

// The queue may be known a moment before its subscription.
func TestSubscriptionThatIsNotKnownYet(t *testing.T) {
	r := newRig(t)
	r.put(1, note, "m")
	r.until(t, "the subscription is asked for", func() bool { return r.unknown.Load() > 0 })
	r.subscribe(1, standard)
	r.until(t, "it is delivered", func() bool { r.advance(shortestPause); _, n := r.next(1); return n == 0 })
}

// A subscription that ended while it had messages causes no warning.
func TestSubscriptionThatHasEnded(t *testing.T) {
	r := newRig(t)
	r.put(1, note, "m")
	asked := int64(0)
	for range 10 {
		r.until(t, "the subscription is asked for",
			func() bool { r.advance(longestPause); n := r.unknown.Load(); return n > asked || n >= 8 })
		asked = r.unknown.Load()
	}
	r.stop()
	if r.log.String() != "" {
		t.Error(r.log)
	}
}

func TestNotes(t *testing.T) {
	n := Note{Type: "SubscriptionConfirmation", Raw: true, Subject: "s", Link: "l"}
	o := n.Outgoing(queue.MessageID{1}, "body")
	if got := NoteOf(&queue.Message{Sender: o.Sender}); got != n {
		t.Errorf("%+v", got)
	}
	for _, sender := range []string{"", "sns.amazonaws.com", "{}"} {
		if got := NoteOf(&queue.Message{Sender: sender}); got.Type != "Notification" {
			t.Errorf("%q: %+v", sender, got)
		}
	}
}
