package tenant

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// meter is a node's state of a subject with limits. It outlives changes of them.
type meter struct {
	subject Subject
	limits  atomic.Pointer[Limits]
	rates   [rates]atomic.Pointer[rate] // nil: not limited
	crowd   *crowd
	stock   *stock
	refused [Kinds]atomic.Int64
	said    [Kinds]atomic.Int64 // the minute of the last line in the log
}

func newMeter(s Subject) *meter { return &meter{subject: s, crowd: newCrowd(), stock: newStock()} }

// set sets the limits of the subject.
func (m *meter) set(l Limits, now time.Time) {
	m.limits.Store(&l)
	for k := range rates {
		most, limited := l[Kind(k)]
		switch r := m.rates[k].Load(); {
		case !limited:
			m.rates[k].Store(nil)
		case r == nil:
			m.rates[k].Store(newRate(most))
		default:
			r.set(most, now)
		}
	}
}

// taken takes n of a rate if the limit allows it, and reports whether it did. A nil meter stands for a subject without
// limits.
func (m *meter) taken(k Kind, n int, now time.Time) bool {
	if m == nil {
		return true
	}
	r := m.rates[k].Load()
	return r == nil || r.take(n, now)
}

// giveBack undoes taken.
func (m *meter) giveBack(k Kind, n int) {
	if m != nil {
		if r := m.rates[k].Load(); r != nil {
			r.giveBack(n)
		}
	}
}

// limit returns the limit of a kind, if there is one.
func (m *meter) limit(k Kind) (int64, bool) {
	n, ok := (*m.limits.Load())[k]
	return n, ok
}

// stores reports whether stored data is limited.
func (m *meter) stores() (messages, bytes bool) {
	l := *m.limits.Load()
	_, messages = l[Messages]
	_, bytes = l[Bytes]
	return messages, bytes
}

// refuse counts a refusal, and logs the first one of each minute.
func (m *meter) refuse(k Kind, log *slog.Logger, now time.Time) error {
	m.refused[k].Add(1)
	limit, _ := m.limit(k)
	minute := now.Unix() / 60
	if last := m.said[k].Load(); last != minute && m.said[k].CompareAndSwap(last, minute) {
		log.Warn("requests of an account beyond its limits are refused",
			"account", m.subject.Account, "user", m.subject.User, "limit", k.String(), "value", limit)
	}
	return &Refusal{Subject: m.subject, Kind: k, Limit: limit}
}
