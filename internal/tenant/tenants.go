package tenant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/control"
)

// MaxSubjects is the maximum number of accounts and users with limits: each heartbeat reports on those in use.
const MaxSubjects = 1000

// ErrTooMany reports that MaxSubjects have limits already.
var ErrTooMany = fmt.Errorf("%d accounts and users have limits, which is as many as can", MaxSubjects)

// Options configures Tenants.
type Options struct {
	Control *control.Control
	Formats control.Formats
	// Gone reports whether a subject no longer exists. The next change removes its limits. A nil Gone means that all
	// exist.
	Gone func(Subject) bool
	// Stored returns how much the shards of this node store of some accounts; for accounts whose value is true,
	// including the bytes. Run and Store call it. A nil Stored finds nothing.
	Stored func(ctx context.Context, accounts map[string]bool) (map[string]Amount, error)
	Now    func() time.Time // nil means time.Now
	Log    *slog.Logger     // nil discards
}

// Tenants is the set of limits, and this node's knowledge of their use. Its methods are safe for concurrent use. A nil
// Tenants limits nothing.
type Tenants struct {
	o       Options
	process string // of this process, for other nodes
	records *control.Set[records]
	// meters holds the limited subjects, and is replaced as a whole; nil: no limits.
	meters atomic.Pointer[map[Subject]*meter]

	refused [Kinds]atomic.Int64 // since the process began
	known   sync.Map            // nodes that have been heard of, as keys

	measuring sync.Mutex // held while the shards are counted
	measured  time.Time  // time of the last count
	ticked    time.Time
}

// Open reads the records from the control store and follows their changes.
func Open(o Options) (*Tenants, error) {
	if o.Gone == nil {
		o.Gone = func(Subject) bool { return false }
	}
	if o.Stored == nil {
		o.Stored = func(context.Context, map[string]bool) (map[string]Amount, error) { return nil, nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Tenants{o: o, process: uuid.NewString()}
	t.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Prefix: Prefix, Formats: o.Formats, New: newRecords, Changed: t.replace,
	})
	if err := t.records.Register(); err != nil {
		return nil, err
	}
	return t, nil
}

// Any reports whether anything is limited. It costs an atomic load. If it returns false, callers need not determine the
// caller of a request.
func (t *Tenants) Any() bool { return t != nil && t.meters.Load() != nil }

// all returns the meters. Do not change them.
func (t *Tenants) all() map[Subject]*meter {
	if t == nil {
		return nil
	}
	if m := t.meters.Load(); m != nil {
		return *m
	}
	return nil
}

// of returns the meters that apply to a caller: of its account and of itself.
func (t *Tenants) of(s Subject) (out [2]*meter) {
	all := t.all()
	if all == nil {
		return out
	}
	out[0] = all[Subject{Account: s.Account}]
	if s.User != "" {
		out[1] = all[s]
	}
	return out
}

// Limits returns the limits of a subject; nil if it has none.
func (t *Tenants) Limits(s Subject) Limits {
	if m := t.all()[s]; m != nil {
		return maps.Clone(*m.limits.Load())
	}
	return nil
}

// Limit returns an account's limit of a kind, if there is one. It is for kinds that are decided where they change, such
// as Queues.
func (t *Tenants) Limit(account string, k Kind) (int64, bool) {
	if m := t.all()[Subject{Account: account}]; m != nil {
		return m.limit(k)
	}
	return 0, false
}

// Refuse counts and returns a refusal that was decided elsewhere, with Limit.
func (t *Tenants) Refuse(account string, k Kind) error {
	if m := t.all()[Subject{Account: account}]; m != nil {
		return t.refuse(m, k, t.o.Now())
	}
	return &Refusal{Subject: Subject{Account: account}, Kind: k}
}

// refuse counts a refusal, and returns it.
func (t *Tenants) refuse(m *meter, k Kind, now time.Time) error {
	t.refused[k].Add(1)
	return m.refuse(k, t.o.Log, now)
}

// Take takes n messages, at least 1, from a rate of the caller, or returns a *Refusal.
func (t *Tenants) Take(caller Subject, k Kind, n int) error {
	if !t.Any() {
		return nil
	}
	now := t.o.Now()
	meters := t.of(caller)
	for i, m := range meters {
		if m.taken(k, n, now) {
			continue
		}
		for _, before := range meters[:i] {
			before.giveBack(k, n)
		}
		return t.refuse(m, k, now)
	}
	return nil
}

// TakeMore takes n more messages for a request that has passed Take and can no longer be refused.
func (t *Tenants) TakeMore(caller Subject, k Kind, n int) {
	if n <= 0 || !t.Any() {
		return
	}
	now := t.o.Now()
	for _, m := range t.of(caller) {
		if m != nil {
			if r := m.rates[k].Load(); r != nil {
				r.more(n, now)
			}
		}
	}
}

// Visit is a request in progress. The zero Visit is not counted.
type Visit struct{ meters [2]*meter }

// Enter counts a request of the caller until Leave, or returns a *Refusal.
func (t *Tenants) Enter(caller Subject) (v Visit, err error) {
	if !t.Any() {
		return v, nil
	}
	now := t.o.Now()
	for i, m := range t.of(caller) {
		if m == nil {
			continue
		}
		most, limited := m.limit(Requests)
		if !limited {
			most = MaxLimit // it is counted nevertheless: a limit may be set later
		}
		if !m.crowd.enter(most, now) {
			v.Leave()
			return Visit{}, t.refuse(m, Requests, now)
		}
		v.meters[i] = m
	}
	return v, nil
}

// Leave ends the visit.
func (v *Visit) Leave() {
	for i, m := range v.meters {
		if m != nil {
			m.crowd.leave()
			v.meters[i] = nil
		}
	}
}

// Entry is data that an account may store. The zero Entry is not counted.
type Entry struct {
	stock  *stock
	amount Amount
}

// Store admits data of an account until End reports the outcome, or returns a *Refusal.
func (t *Tenants) Store(ctx context.Context, account string, a Amount) (Entry, error) {
	if !t.Any() {
		return Entry{}, nil
	}
	m := t.all()[Subject{Account: account}]
	if m == nil {
		return Entry{}, nil
	}
	if messages, bytes := m.stores(); !messages && !bytes {
		return Entry{}, nil
	}
	k, ok := m.stock.enter(a, *m.limits.Load(), t.o.Now())
	if !ok && t.remeasure(ctx) { // some data may have been deleted
		k, ok = m.stock.enter(a, *m.limits.Load(), t.o.Now())
	}
	if !ok {
		return Entry{}, t.refuse(m, k, t.o.Now())
	}
	return Entry{m.stock, a}, nil
}

// End reports whether the admitted data was stored, or may have been.
func (e *Entry) End(mayBe bool) {
	if e.stock != nil {
		e.stock.end(e.amount, mayBe)
		e.stock = nil
	}
}

// measureInterval is the minimum time between two counts of the shards because of a refusal.
const measureInterval = 100 * time.Millisecond

// remeasure counts the shards again, unless that was done a moment ago. It reports whether it did.
func (t *Tenants) remeasure(ctx context.Context) bool {
	if !t.measuring.TryLock() {
		return false // others wait for the shards already
	}
	defer t.measuring.Unlock()
	if t.o.Now().Sub(t.measured) < measureInterval {
		return false
	}
	return t.measure(ctx) == nil
}

// measure counts the data on the shards of this node. t.measuring is held.
func (t *Tenants) measure(ctx context.Context) error {
	t.measured = t.o.Now()
	accounts := make(map[string]bool)
	before := make(map[*meter]Amount)
	for s, m := range t.all() {
		if messages, bytes := m.stores(); messages || bytes {
			accounts[s.Account] = bytes
			before[m] = m.stock.begin()
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	found, err := t.o.Stored(ctx, accounts)
	if err != nil {
		return fmt.Errorf("measure the stored data of accounts: %w", err)
	}
	for m, entered := range before {
		m.stock.count(found[m.subject.Account], entered)
	}
	return nil
}

// heartbeat is the interval in which the use is measured and the shares of rates are computed.
const heartbeat = time.Second

// Run updates the use of limited resources until ctx ends.
func (t *Tenants) Run(ctx context.Context) {
	again := time.NewTicker(heartbeat)
	defer again.Stop()
	for {
		if err := t.Tick(ctx); err != nil && ctx.Err() == nil {
			t.o.Log.Debug("the stored data of accounts is unknown now", "error", err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// Tick does the work of Run for one heartbeat.
func (t *Tenants) Tick(ctx context.Context) error {
	now := t.o.Now()
	t.measuring.Lock()
	defer t.measuring.Unlock()
	passed := now.Sub(t.ticked)
	t.ticked = now
	for _, m := range t.all() {
		for k := range m.rates {
			if r := m.rates[k].Load(); r != nil {
				r.tick(min(passed, 2*heartbeat), now)
			}
		}
	}
	return t.measure(ctx)
}

// change sets the limits of a subject to the result of f on its present ones, and returns them.
func (t *Tenants) change(ctx context.Context, s Subject, f func(Limits) Limits) (Limits, error) {
	return control.Decide(ctx, t.o.Control.Change, func(tx *control.Tx) (Limits, error) {
		all := t.all()
		var old Limits
		if m := all[s]; m != nil {
			old = *m.limits.Load()
		}
		l := f(old)
		gone := t.gone()
		if old == nil && len(l) > 0 {
			if len(all)-len(gone) >= MaxSubjects {
				return nil, ErrTooMany
			}
			if err := t.records.MayWrite(); err != nil {
				return nil, err
			}
		}
		for _, other := range gone {
			table.Delete(tx, other)
		}
		switch {
		case len(l) > 0:
			table.Put(tx, s, &l)
		case old != nil:
			table.Delete(tx, s)
		}
		return l, nil
	})
}

// gone returns the subjects with limits that no longer exist.
func (t *Tenants) gone() (out []Subject) {
	for s := range t.all() {
		if t.o.Gone(s) {
			out = append(out, s)
		}
	}
	return out
}

// Set sets limits of a subject. Kinds that l does not have stay. It returns all limits of the subject, or ErrTooMany.
func (t *Tenants) Set(ctx context.Context, s Subject, l Limits) (Limits, error) {
	return t.change(ctx, s, func(old Limits) Limits { return old.with(l) })
}

// Remove removes limits of some kinds from a subject, or all if none are named. It returns the remaining limits.
func (t *Tenants) Remove(ctx context.Context, s Subject, kinds ...Kind) (Limits, error) {
	return t.change(ctx, s, func(old Limits) Limits { return old.without(kinds) })
}

var errKind = errors.New("users have no such limit")

// Check returns an error if the limits are invalid for the subject.
func (l Limits) Check(s Subject) error {
	for k, n := range l {
		switch {
		case s.User != "" && !k.OfUsers():
			return fmt.Errorf("%s: %w", k, errKind)
		case n < k.Least() || n > MaxLimit:
			return fmt.Errorf("%s is %d; it must be between %d and %d", k, n, k.Least(), int64(MaxLimit))
		}
	}
	return nil
}
