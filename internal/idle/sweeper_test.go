package idle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/idle"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// after is how long a queue must be unused here; the last day of it is the notice.
const after = 30 * 24 * time.Hour

var began = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// shards are the answers of the shards for all queues, with the number of calls.
type shards struct {
	catalog *catalog.Catalog
	uses    map[queue.ID]*queue.Use
	silent  map[queue.ID]bool
	asking  func(id queue.ID, sealed bool) // called when the use of a queue is read
	fail    error
}

func (s *shards) Uses(_ context.Context, ids []queue.ID) (out []queue.Use, err error) {
	for _, id := range ids {
		q := s.catalog.ByID(id)
		if q == nil {
			continue
		}
		sealed := q.Idle != nil && q.Idle.Sealed
		if s.asking != nil {
			s.asking(id, sealed)
		}
		if s.silent[id] {
			continue
		}
		u := queue.Use{ID: id, Sealed: sealed, Last: queue.At(q.Created)}
		if known := s.uses[id]; known != nil {
			u.Last, u.Messages = known.Last, known.Messages
		}
		out = append(out, u)
	}
	return out, s.fail
}

// world is a control store with queues, and the sweeper that deletes them.
type world struct {
	t        failer
	now      time.Time
	control  *control.Control
	catalog  *catalog.Catalog
	trail    *trail.Trail
	shards   *shards
	fed      map[string]bool
	watched  map[string]bool
	log      bytes.Buffer
	ready    error
	format   int // how often it was required
	owner    bool
	measured map[idle.Scope]int
	*idle.Sweeper
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(func())
}

func newWorld(t failer) *world {
	t.Helper()
	s, err := store.OpenMemory(store.Options{})
	w := &world{t: t, now: began, owner: true, fed: make(map[string]bool), watched: make(map[string]bool)}
	w.must(err)
	t.Cleanup(func() { _ = s.Close() })
	w.control = control.New(control.Options{Store: s})
	w.must(w.control.Change(context.Background(), catalog.Initialise))
	w.catalog, err = catalog.Open(catalog.Options{
		Control: w.control, Formats: control.Formats{Require: func(format int) error {
			if format == formats.Idle {
				w.format++
			}
			return nil
		}},
	})
	w.must(err)
	w.trail = trail.New(trail.Options{Control: w.control, Now: func() time.Time { return w.now }})
	w.shards = &shards{catalog: w.catalog, uses: make(map[queue.ID]*queue.Use), silent: make(map[queue.ID]bool)}
	w.begin(after)
	return w
}

// begin starts the server again, with that option.
func (w *world) begin(after time.Duration) {
	w.Sweeper = idle.New(idle.Options{
		Catalog: w.catalog, Trail: w.trail, After: after, Uses: w.shards.Uses,
		Fed:     func() map[string]bool { return maps.Clone(w.fed) },
		Measure: func(_ context.Context, _ time.Time, n map[idle.Scope]int) error { w.measured = n; return nil },
		Watched: func() map[string]bool { return maps.Clone(w.watched) },
		Owner:   func() bool { return w.owner }, Ready: func() error { return w.ready },
		Require: func() error { w.format++; return nil },
		Now:     func() time.Time { return w.now }, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
}

func named(name string) catalog.Name {
	return catalog.Name{Account: "111122223333", Region: "us-east-1", Queue: name}
}

func (w *world) create(name string, change ...func(*catalog.Queue)) *catalog.Queue {
	w.t.Helper()
	w.must(w.catalog.Change(context.Background(), func(tx *catalog.Tx) error {
		_, err := tx.Create(named(name), catalog.Attributes{VisibilitySeconds: 30}, nil, w.now)
		return err
	}))
	for _, f := range change {
		w.change(name, f)
	}
	return w.find(name)
}

func (w *world) change(name string, f func(*catalog.Queue)) {
	w.t.Helper()
	w.must(w.catalog.Change(context.Background(), func(tx *catalog.Tx) error {
		_, err := tx.Update(named(name), w.find(name).ID, func(q *catalog.Queue) error { f(q); return nil })
		return err
	}))
}

func (w *world) find(name string) *catalog.Queue { return w.catalog.Find(named(name)) }

// use records that a client has called.
func (w *world) use(name string, messages uint64) {
	w.shards.uses[w.find(name).ID] = &queue.Use{Last: queue.At(w.now), Messages: messages}
}

// pass lets time pass, and then runs the sweeper.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.now = w.now.Add(d)
	w.must(w.Look(context.Background()))
}

// events returns the names of a queue's events, oldest first, and the details of the last.
func (w *world) events(name string) (names []string, details string) {
	w.t.Helper()
	found, _, err := w.trail.Find(trail.Query{Account: "111122223333", Max: 1000})
	w.must(err)
	for _, e := range slices.Backward(found) {
		if strings.Contains(e.Text, named(name).ARN()+`"`) {
			names, details = append(names, e.EventName), e.Text
		}
	}
	return names, details
}

const day = 24 * time.Hour

// An unused queue is announced a day before, and then deleted; its neighbor, which is used, stays.
func TestAnnouncedAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("old")
	w.create("used")
	w.pass(0) // starts to watch
	if w.format == 0 {
		t.Error("the data directory does not require this program")
	}
	w.now = w.now.Add(28 * day)
	w.use("used", 0)
	w.pass(day - time.Minute)
	if w.find("old").Idle != nil || w.Announced() != 0 {
		t.Fatal("announced too early")
	}
	w.pass(time.Minute)
	if q := w.find("old"); q.Idle == nil || w.Announced() != 1 || !q.Idle.Due.Equal(began.Add(after)) ||
		!strings.Contains(w.log.String(), "will be deleted") {
		t.Fatalf("%+v, %s", q.Idle, w.log.String())
	}
	if n := w.measured[idle.Scope{Account: "111122223333", Region: "us-east-1"}]; n != 1 || len(w.measured) != 1 {
		t.Errorf("measured %v", w.measured)
	}
	names, details := w.events("old")
	const want = `"eventSource":"sqs.amazonaws.com","eventName":"AnnounceIdleQueueDeletion","awsRegion":"us-east-1"`
	if !slices.Equal(names, []string{"AnnounceIdleQueueDeletion"}) || !strings.Contains(details, want) ||
		!strings.Contains(details, `"eventType":"AwsServiceEvent"`) ||
		!strings.Contains(details, `"deletedNotBefore":"2026-12-01T09:00:00Z"`) ||
		!strings.Contains(details, `"invokedBy":"sqs.amazonaws.com"`) ||
		!strings.Contains(details, `"type":"AWS::SQS::Queue"`) {
		t.Errorf("%v %s", names, details)
	}
	w.pass(day - time.Minute)
	if w.find("old") == nil || w.Deleted() != 0 {
		t.Fatal("deleted too early")
	}
	w.pass(time.Minute)
	if w.find("old") != nil || w.find("used") == nil || w.Deleted() != 1 || w.Announced() != 0 ||
		!strings.Contains(w.log.String(), "was deleted") {
		t.Fatalf("%s", w.log.String())
	}
	w.pass(day / 2)
	if names, _ := w.events("old"); !slices.Equal(names, []string{"AnnounceIdleQueueDeletion", "DeleteIdleQueue"}) {
		t.Error(names)
	}
	if names, _ := w.events("used"); len(names) > 0 {
		t.Error(names)
	}
}

// The reasons to keep a queue, before the announcement and after it.
func TestKept(t *testing.T) {
	t.Parallel()
	arn := named("old").ARN()
	for what, keep := range map[string]func(w *world){
		"dead-letter queue": func(w *world) {
			w.create("work",
				func(q *catalog.Queue) { q.Attributes.Redrive = &catalog.Redrive{Target: arn, MaxReceiveCount: 3} })
			w.use("work", 1)
		},
		"dead letters of it": func(w *world) {
			w.create("dead")
			w.use("dead", 1)
			w.change("old", func(q *catalog.Queue) {
				q.Attributes.Redrive = &catalog.Redrive{Target: named("dead").ARN(), MaxReceiveCount: 3}
			})
			w.change("old", func(q *catalog.Queue) { q.Modified = began })
		},
		"alarm": func(w *world) { w.watched[arn] = true },
		"topic": func(w *world) { w.fed[arn] = true },
		"tag": func(w *world) {
			w.change("old", func(q *catalog.Queue) { q.Tags = map[string]string{catalog.TagIdle: catalog.IdleKeep} })
		},
		"file": func(w *world) {
			w.change("old", func(q *catalog.Queue) { q.Tags = map[string]string{"sluice-applied-by": "shop"} })
		},
		"message":   func(w *world) { w.shards.uses[w.find("old").ID] = &queue.Use{Messages: 1} },
		"use":       func(w *world) { w.use("old", 0) },
		"attribute": func(w *world) { w.change("old", func(q *catalog.Queue) { q.Modified = w.now }) },
	} {
		for _, notice := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", what, notice), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.create("old")
				w.pass(0)
				w.now = w.now.Add(28 * day)
				if notice {
					w.pass(day)
					if w.find("old").Idle == nil {
						t.Fatal("it is not announced")
					}
				}
				keep(w)
				w.pass(3 * day)
				w.pass(3 * day)
				if q := w.find("old"); q == nil || q.Idle != nil {
					t.Errorf("%+v", q)
				}
				var want []string
				if notice {
					want = []string{"AnnounceIdleQueueDeletion", "RevokeIdleQueueDeletion"}
				}
				if names, _ := w.events("old"); !slices.Equal(names, want) {
					t.Error(names)
				}
			})
		}
	}
}

// A queue is deleted when all its dead letters are gone, or its dead-letter queue is.
func TestNoDeadLetters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("dead")
	for name, target := range map[string]string{"old": "dead", "older": "gone"} {
		w.create(name, func(q *catalog.Queue) {
			q.Attributes.Redrive = &catalog.Redrive{Target: named(target).ARN(), MaxReceiveCount: 3}
		})
	}
	w.use("dead", 1)
	w.pass(0)
	w.pass(29 * day)
	w.pass(day)
	if w.find("old") == nil || w.find("older") != nil {
		t.Error("dead letters count for another queue")
	}
	w.use("dead", 0)
	w.shards.silent[w.find("dead").ID] = true
	w.pass(0)
	if w.find("old").Idle != nil {
		t.Error("it is announced, though its dead letters cannot be counted")
	}
	w.shards.silent = nil
	w.pass(0)
	w.pass(day)
	if w.find("old") != nil || w.find("dead") == nil {
		t.Error("it exists")
	}
}

// A queue that is its own dead-letter queue has no reason to stay.
func TestOwnDeadLetterQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("old", func(q *catalog.Queue) {
		q.Attributes.Redrive = &catalog.Redrive{Target: named("old").ARN(), MaxReceiveCount: 3}
	})
	w.pass(0)
	w.pass(29 * day)
	w.pass(day)
	if w.find("old") != nil {
		t.Error("it exists")
	}
}

// Events while the queue is sealed, when its shards are read for the last time.
func TestUsedInTheLastMoment(t *testing.T) {
	t.Parallel()
	for what, happens := range map[string]func(w *world, id queue.ID){
		"message":      func(w *world, id queue.ID) { w.shards.uses[id] = &queue.Use{Messages: 1} },
		"use":          func(w *world, id queue.ID) { w.shards.uses[id] = &queue.Use{Last: queue.At(w.now)} },
		"silence":      func(w *world, id queue.ID) { w.shards.silent[id] = true },
		"subscription": func(w *world, _ queue.ID) { w.fed[named("old").ARN()] = true },
		"attribute":    func(w *world, _ queue.ID) { w.change("old", func(q *catalog.Queue) { q.Modified = w.now }) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create("old")
			w.pass(0)
			w.pass(29 * day)
			saw := false
			w.shards.asking = func(id queue.ID, sealed bool) {
				if sealed && !saw {
					saw = true
					happens(w, id)
				}
			}
			w.pass(day)
			if !saw {
				t.Fatal("it was not sealed")
			}
			w.pass(0)
			if q := w.find("old"); q == nil || q.Idle != nil && q.Idle.Sealed {
				t.Errorf("%+v", q)
			}
		})
	}
}

// The next node finishes what another has begun: a sealed queue is deleted, or unsealed.
func TestSuccessor(t *testing.T) {
	t.Parallel()
	for _, used := range []bool{false, true} {
		w := newWorld(t)
		w.create("old")
		w.pass(0)
		w.pass(29 * day)
		w.shards.fail = errors.New("this node is about to end")
		w.now = w.now.Add(day)
		w.shards.asking = func(_ queue.ID,
			sealed bool) {
			w.shards.fail = map[bool]error{true: errors.New("it ends")}[sealed]
		}
		if err := w.Look(context.Background()); err == nil || !w.find("old").Idle.Sealed {
			t.Fatalf("%v, %+v", err, w.find("old").Idle)
		}
		w.shards.asking, w.shards.fail = nil, nil
		if used {
			w.use("old", 1)
		}
		w.begin(after)
		w.pass(0)
		if q := w.find("old"); (q == nil) == used || used && q.Idle != nil {
			t.Errorf("used %t: %+v", used, q)
		}
	}
}

// A server that was stopped when the queue was due, or that runs on data from an old backup, announces it again: it has
// not watched, and the announcement may never have been seen.
func TestAnnouncementIsOutOfDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("old")
	w.pass(0)
	w.pass(29 * day)
	w.begin(after)
	w.pass(40 * day)
	if q := w.find("old"); q == nil || q.Idle == nil || !q.Idle.Announced.Equal(w.now) ||
		!q.Idle.Due.Equal(w.now.Add(day)) {
		t.Fatalf("%+v", q)
	}
	w.pass(day - time.Minute)
	if w.find("old") == nil {
		t.Fatal("deleted too early")
	}
	w.pass(time.Hour)
	if w.find("old") != nil {
		t.Error("it exists")
	}
	if names, _ := w.events("old"); !slices.Equal(names,
		[]string{"AnnounceIdleQueueDeletion", "AnnounceIdleQueueDeletion", "DeleteIdleQueue"}) {
		t.Error(names)
	}
}

// Time counts from the first start with the option, and again after a run without it. Without the option announcements
// are revoked.
func TestOptionIsTakenAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("old")
	w.now = w.now.Add(400 * day)
	w.pass(0)
	w.pass(28 * day)
	if w.find("old").Idle != nil {
		t.Fatal("unwatched time counts")
	}
	w.pass(day)
	if w.find("old").Idle == nil {
		t.Fatal("it is not announced")
	}
	w.begin(0)
	w.pass(day)
	if q := w.find("old"); q.Idle != nil || !w.catalog.IdleSince().IsZero() {
		t.Errorf("%+v, %v", q.Idle, w.catalog.IdleSince())
	}
	w.pass(100 * day)
	w.begin(after)
	w.pass(0)
	w.pass(28 * day)
	if w.find("old").Idle != nil {
		t.Error("time without the option counts")
	}
	// A longer time revokes an announcement, and a shorter one does not shorten the notice.
	w.pass(day)
	w.begin(2 * after)
	if w.pass(0); w.find("old").Idle != nil {
		t.Error("it is announced too early")
	}
	w.begin(after / 2)
	if w.pass(0); w.find("old") == nil || w.find("old").Idle == nil {
		t.Fatal("it is not announced")
	}
	w.pass(day - time.Minute)
	if w.find("old") == nil {
		t.Error("it is deleted before the notice is over")
	}
}

// Nothing is written while a node would not understand it, nor where the control store is not owned.
func TestWaitsForAllNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ready = errors.New("the node b is too old")
	w.create("old")
	w.now = w.now.Add(40 * day)
	if err := w.Look(context.Background()); !errors.Is(err, w.ready) || w.format != 0 ||
		!w.catalog.IdleSince().IsZero() {
		t.Errorf("%v, %d, %v", err, w.format, w.catalog.IdleSince())
	}
}

// In every sequence of events: no queue with a message is deleted, none that was used in the last 30 days, and none
// without a day of notice; and every idle queue is deleted in time.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		names := []string{"a", "b", "c"}
		used := make(map[string]time.Time)
		messages := make(map[string]uint64)
		kept := make(map[string]bool)
		announced := make(map[string]time.Time)
		gone := make(map[string]bool)
		for _, name := range names {
			w.create(name)
			used[name] = w.now
		}
		w.pass(0)
		limit := w.now // no node has watched before
		look := func() {
			w.must(w.Look(context.Background()))
			w.must(w.Look(context.Background())) // overtaken decisions are made again
			for _, name := range names {
				if gone[name] {
					continue
				}
				q := w.find(name)
				last := used[name]
				if limit.After(last) {
					last = limit
				}
				isIdle := messages[name] == 0 && !kept[name]
				unused := w.now.Sub(last)
				switch {
				case q == nil:
					gone[name] = true
					if at := announced[name]; !isIdle || unused < after || at.IsZero() || w.now.Sub(at) < day {
						t.Fatalf("%s is deleted after %v, announced at %v, messages %d, kept %t", name, unused, at,
							messages[name], kept[name])
					}
				case q.Idle == nil:
					delete(announced, name)
					if isIdle && unused >= after-day {
						t.Fatalf("%s is not announced after %v", name, unused)
					}
				case !isIdle || unused < after-day:
					t.Fatalf("%s is announced after %v, messages %d, kept %t", name, unused, messages[name], kept[name])
				case w.now.Sub(q.Idle.Due) > time.Hour:
					t.Fatalf("the announcement of %s is out of date", name)
				case unused >= after && !w.now.Before(q.Idle.Due):
					t.Fatalf("%s is not deleted after %v", name, unused)
				default:
					announced[name] = q.Idle.Announced
				}
				if q != nil && q.Idle != nil && q.Idle.Sealed {
					t.Fatalf("%s stays sealed", name)
				}
			}
		}
		pick := rapid.SampledFrom(names)
		there := func(t *rapid.T) string {
			name := pick.Draw(t, "queue")
			if gone[name] {
				t.Skip("it is gone")
			}
			return name
		}
		t.Repeat(map[string]func(*rapid.T){
			"look": func(*rapid.T) { look() },
			"pass": func(t *rapid.T) {
				w.now = w.now.Add(rapid.SampledFrom([]time.Duration{time.Hour, day / 2, day, 10 * day, 29 * day,
					31 * day}).Draw(t, "time"))
				look()
			},
			"use": func(t *rapid.T) {
				name := there(t)
				messages[name] = rapid.Uint64Range(0, 1).Draw(t, "messages")
				w.use(name, messages[name])
				used[name] = w.now
			},
			"drain": func(t *rapid.T) { // messages expire
				name := there(t)
				if u := w.shards.uses[w.find(name).ID]; u != nil {
					u.Messages = 0
				}
				messages[name] = 0
			},
			"keep": func(t *rapid.T) {
				name := there(t)
				kept[name] = !kept[name]
				w.fed[named(name).ARN()] = kept[name]
			},
			"begin": func(*rapid.T) { w.begin(after) },
		})
	})
}
