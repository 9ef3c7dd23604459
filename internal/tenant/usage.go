package tenant

import (
	"cmp"
	"slices"
)

// Usage is a subject with limits, and its use of them on all nodes.
type Usage struct {
	Subject
	Limits  Limits
	Used    map[Kind]float64 // of limited kinds, except those that this package does not count
	Refused map[Kind]int64   // since this process began, on this node; kinds without refusals are omitted
}

// Refused returns the number of refusals by each limit on this node, since the process began.
func (t *Tenants) Refused() (out map[Kind]int64) {
	out = make(map[Kind]int64, Kinds)
	for k := range t.refused {
		out[Kind(k)] = t.refused[k].Load()
	}
	return out
}

// Usages returns all subjects with limits, sorted by account and user.
func (t *Tenants) Usages() []Usage {
	all := t.all()
	out := make([]Usage, 0, len(all))
	for _, m := range all {
		out = append(out, t.usage(m))
	}
	slices.SortFunc(out, func(a, b Usage) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.User, b.User))
	})
	return out
}

// Usage returns a subject with its limits; it has none if it is not limited.
func (t *Tenants) Usage(s Subject) Usage {
	if m := t.all()[s]; m != nil {
		return t.usage(m)
	}
	return Usage{Subject: s}
}

func (t *Tenants) usage(m *meter) Usage {
	now := t.o.Now()
	u := Usage{
		Subject: m.subject, Limits: *m.limits.Load(), Used: make(map[Kind]float64), Refused: make(map[Kind]int64),
	}
	stored := m.stock.amount(now)
	for k := range u.Limits {
		switch k {
		case Sends, Receives:
			if r := m.rates[k].Load(); r != nil {
				u.Used[k] = r.use(now)
			}
		case Requests:
			u.Used[k] = float64(m.crowd.count(now))
		case Messages:
			u.Used[k] = float64(max(0, stored.Messages))
		case Bytes:
			u.Used[k] = float64(max(0, stored.Bytes))
		}
	}
	for k := range m.refused {
		if n := m.refused[k].Load(); n > 0 {
			u.Refused[Kind(k)] = n
		}
	}
	return u
}
