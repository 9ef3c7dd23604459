package tenant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

const (
	one = "111111111111"
	two = "222222222222"
)

type rig struct {
	*Tenants
	store *store.Store
	now   time.Time
	log   bytes.Buffer
}

func open(t testing.TB, o Options) *rig {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open("control", store.Options{Disk: store.NewMemoryDisk(log), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	r := &rig{store: st, now: began}
	o.Control, o.Now = control.New(control.Options{Store: st}), func() time.Time { return r.now }
	o.Log = slog.New(slog.NewTextHandler(&r.log, nil))
	if r.Tenants, err = Open(o); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) set(t testing.TB, s Subject, l Limits) {
	t.Helper()
	if _, err := r.Set(t.Context(), s, l); err != nil {
		t.Fatal(err)
	}
}

func refusedFor(err error) string {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Kind.String()
	}
	return fmt.Sprint(err)
}

// Limits are set and removed one by one, and a reader that starts again knows the same.
func TestLimitsAreRecords(t *testing.T) {
	r := open(t, Options{})
	user := Subject{one, "AIDAX"}
	r.set(t, Subject{Account: one}, Limits{Sends: 5, Queues: 2})
	r.set(t, Subject{Account: one}, Limits{Queues: 3, Bytes: 0})
	r.set(t, user, Limits{Requests: 1})
	want := Limits{Sends: 5, Queues: 3, Bytes: 0}
	check := func(tenants *Tenants) {
		t.Helper()
		if got := tenants.Limits(Subject{Account: one}); !maps.Equal(got, want) {
			t.Errorf("the account has %v, want %v", got, want)
		}
		if got := tenants.Limits(user); !maps.Equal(got, Limits{Requests: 1}) {
			t.Errorf("the user has %v", got)
		}
	}
	check(r.Tenants)
	again, err := Open(r.o)
	if err != nil {
		t.Fatal(err)
	}
	check(again)
	if n, problems, err := Check(r.store); n != 2 || len(problems) > 0 || err != nil {
		t.Error(n, problems, err)
	}
	left, err := again.Remove(t.Context(), Subject{Account: one}, Sends, Topics)
	if err != nil || !maps.Equal(left, Limits{Queues: 3, Bytes: 0}) {
		t.Error(left, err)
	}
	for _, s := range []Subject{{Account: one}, user, {Account: two}} {
		if left, err := again.Remove(t.Context(), s); err != nil || left != nil {
			t.Error(s, left, err)
		}
	}
	if again.meters.Load() != nil {
		t.Error("without limits there is still something to look at")
	}
}

func TestSubjectsAreBounded(t *testing.T) {
	gone := make(map[Subject]bool)
	r := open(t, Options{Gone: func(s Subject) bool { return gone[s] }})
	subject := func(i int) Subject { return Subject{one, fmt.Sprintf("AIDA%d", i)} }
	for i := range MaxSubjects {
		r.set(t, subject(i), Limits{Sends: 1})
	}
	if _, err := r.Set(t.Context(), subject(MaxSubjects), Limits{Sends: 1}); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more: %v", err)
	}
	r.set(t, subject(7), Limits{Sends: 2})
	gone[subject(3)], gone[subject(4)] = true, true
	r.set(t, subject(MaxSubjects), Limits{Sends: 1})
	if got := len(r.Usages()); got != MaxSubjects-1 {
		t.Errorf("%d have limits when two are gone and one has come", got)
	}
}

func TestOlderProgramsAreConsidered(t *testing.T) {
	behind := errors.New("a node is behind")
	ready, required := behind, 0
	r := open(t, Options{Formats: control.Formats{
		Ready: func(int) error { return ready }, Require: func(int) error { required++; return nil },
	}})
	if _, err := r.Set(t.Context(), Subject{Account: one}, Limits{Sends: 1}); !errors.Is(err, behind) || required != 0 {
		t.Errorf("%v, required %d times", err, required)
	}
	ready = nil
	for range 2 {
		if _, err := r.Set(t.Context(), Subject{Account: one}, Limits{Sends: 1}); err != nil || required != 1 {
			t.Errorf("%v, required %d times", err, required)
		}
	}
}

// One account is refused, its neighbor is not. The limits of both apply to a user, and requests that the user is
// refused do not count for the account.
func TestWhoIsRefused(t *testing.T) {
	r := open(t, Options{})
	user := Subject{one, "AIDAX"}
	r.set(t, Subject{Account: one}, Limits{Sends: 10})
	r.set(t, user, Limits{Sends: 2, Requests: 1})
	for i, step := range []struct {
		who  Subject
		n    int
		want string
	}{
		{user, 2, "<nil>"},
		{user, 1, "SendsPerSecond"},
		{Subject{one, "AIDAY"}, 7, "<nil>"},
		{Subject{Account: one}, 1, "<nil>"},
		{Subject{Account: one}, 1, "SendsPerSecond"},
		{Subject{Account: two}, 1000, "<nil>"},
		{Subject{}, 1000, "<nil>"}, // anonymous
	} {
		if got := refusedFor(r.Take(step.who, Sends, step.n)); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
	if err := r.Take(user, Receives, 1000); err != nil {
		t.Errorf("a caller without limits: %v", err)
	}
	visit, err := r.Enter(user)
	if _, second := r.Enter(user); err != nil || refusedFor(second) != "ConcurrentRequests" {
		t.Error(err, second)
	}
	visit.Leave()
	visit.Leave()
	if visit, err = r.Enter(user); err != nil {
		t.Error(err)
	}
	visit.Leave()
	if lines := strings.Count(r.log.String(), "\n"); lines != 3 {
		t.Errorf("%d lines for the first refusals of a minute:\n%s", lines, &r.log)
	}
	if got := r.Usage(user).Refused; got[Sends] != 1 || got[Requests] != 1 {
		t.Errorf("refused: %v", got)
	}
}

// Before an account is refused for its stored messages, the shards are read again, though not at each refusal.
func TestStoredIsMeasuredBeforeARefusal(t *testing.T) {
	stored, asked := int64(0), 0
	r := open(t, Options{Stored: func(_ context.Context, accounts map[string]bool) (map[string]Amount, error) {
		asked++
		if len(accounts) != 1 || accounts[one] {
			t.Errorf("read %v", accounts)
		}
		return map[string]Amount{one: {Messages: stored}}, nil
	}})
	r.set(t, Subject{Account: one}, Limits{Messages: 5})
	send := func(n int64) string {
		e, err := r.Store(t.Context(), one, Amount{Messages: n})
		if err == nil {
			stored += n
		}
		e.End(err == nil)
		return refusedFor(err)
	}
	if got := send(5); got != "<nil>" || asked != 0 {
		t.Error(got, asked)
	}
	for range 3 {
		if got := send(1); got != "StoredMessages" || asked != 1 {
			t.Error(got, asked)
		}
	}
	stored--
	if got := send(1); got != "StoredMessages" || asked != 1 {
		t.Error("the shards were read a moment ago:", got, asked)
	}
	r.now = r.now.Add(measureInterval)
	if got := send(1); got != "<nil>" || asked != 2 || stored != 5 {
		t.Error(got, asked)
	}
	if e, err := r.Store(t.Context(), two, Amount{Messages: 1000}); err != nil || e != (Entry{}) {
		t.Error("another account:", err)
	}
}

// Two nodes that report their use to each other refuse what exceeds the limit together.
func TestNodesTellEachOther(t *testing.T) {
	amount := map[string]Amount{one: {3, 300}}
	o := Options{Stored: func(context.Context, map[string]bool) (map[string]Amount, error) { return amount, nil }}
	a, b := open(t, o), open(t, o)
	for _, r := range []*rig{a, b} {
		r.set(t, Subject{Account: one}, Limits{Sends: 4, Requests: 2, Messages: 7, Bytes: 10_000})
		if err := r.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tell := func() {
		t.Helper()
		for _, err := range []error{b.Hear("a", a.Tell()), a.Hear("b", b.Tell())} {
			if err != nil {
				t.Error(err)
			}
		}
	}
	tell()
	for range 4 {
		if err := a.Take(Subject{Account: one}, Sends, 1); err != nil {
			t.Error(err)
		}
	}
	visits := make([]Visit, 2)
	for i := range visits {
		visits[i], _ = a.Enter(Subject{Account: one})
	}
	tell()
	if got := refusedFor(b.Take(Subject{Account: one}, Sends, 1)); got != "SendsPerSecond" {
		t.Errorf("a rate: %s", got)
	}
	if _, err := b.Enter(Subject{Account: one}); refusedFor(err) != "ConcurrentRequests" {
		t.Errorf("requests: %v", err)
	}
	for i := range visits {
		visits[i].Leave()
	}
	tell()
	if _, err := b.Enter(Subject{Account: one}); err != nil {
		t.Errorf("requests that are over: %v", err)
	}
	if _, err := b.Store(t.Context(), one, Amount{2, 1}); refusedFor(err) != "StoredMessages" {
		t.Errorf("stored: %v", err)
	}
	if _, err := b.Store(t.Context(), one, Amount{1, 1}); err != nil {
		t.Errorf("stored: %v", err)
	}
	if u := b.Usage(Subject{Account: one}); u.Used[Messages] != 7 || u.Used[Bytes] != 601 || u.Used[Requests] != 1 {
		t.Errorf("the use: %v", u.Used)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(Prefix+one, []byte(`{"Limits":{"SendsPerSecond":5}}`))
	f.Add(Prefix+one+"/AIDAX", []byte(`{"Limits":{"ConcurrentRequests":0,"Later":1}}`))
	f.Add(Prefix, []byte(`null`))
	f.Fuzz(func(t *testing.T, k string, v []byte) {
		r, kinds := newRecords()
		if kinds.Put(k, v) != nil {
			return
		}
		for s, l := range r.limits {
			back, err := decodeLimits(s, l.encode())
			if err != nil || !maps.Equal(*back, *l) {
				t.Errorf("%v became %v, %v", l, back, err)
			}
			if again, err := parseSubject(s.text()); err != nil || again != s {
				t.Errorf("%v became %v, %v", s, again, err)
			}
		}
	})
}

func FuzzHear(f *testing.F) {
	r := open(f, Options{})
	if _, err := r.Set(context.Background(), Subject{Account: one}, Limits{Sends: 5, Messages: 5}); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(r.Tell()))
	f.Add([]byte(`{"p":"x","u":{"111111111111":{"r":[{"t":5,"d":1},null],"q":3,"s":{"m":1,"b":2}}}}`))
	f.Add([]byte(`{"u":{"111111111111":{"r":[{"t":-9223372036854775808,"d":-1e308},{"d":1e308}],"q":-1}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = r.Hear("b", json.RawMessage(text)) // perhaps of another version
		if err := r.Tick(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkTake measures the cost for a request: without limits, with limits of others, and with limits of the caller.
func BenchmarkTake(b *testing.B) {
	for _, tc := range []struct {
		name    string
		limited Subject
	}{{"nothing limited", Subject{}}, {"another account", Subject{Account: two}},
		{"this account", Subject{Account: one}}} {
		r := open(b, Options{})
		if tc.limited != (Subject{}) {
			r.set(b, tc.limited, Limits{Sends: MaxLimit, Messages: MaxLimit, Requests: MaxLimit})
		}
		caller := Subject{one, "AIDAX"}
		b.Run(tc.name, func(b *testing.B) {
			for b.Loop() {
				visit, _ := r.Enter(caller)
				_ = r.Take(caller, Sends, 1)
				entry, _ := r.Store(context.Background(), one, Amount{1, 100})
				entry.End(true)
				visit.Leave()
			}
		})
	}
}
