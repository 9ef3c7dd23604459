package tenant

import (
	"fmt"
	"maps"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of all records of this package.
const Prefix = "tenant/"

var table = control.Table[Subject, Limits]{
	Prefix: Prefix, Key: control.Key[Subject]{Text: Subject.text, Parse: parseSubject}, Format: formats.Tenants,
	Read: decodeLimits, Write: (*Limits).encode,
}

func (s Subject) text() string {
	if s.User == "" {
		return s.Account
	}
	return s.Account + "/" + s.User
}

func parseSubject(text string) (Subject, error) {
	account, user, isUser := strings.Cut(text, "/")
	if len(account) != 12 || isUser && user == "" || strings.Contains(user, "/") {
		return Subject{}, control.ErrUnknown
	}
	return Subject{account, user}, nil
}

// records holds the records of the store.
type records struct{ limits map[Subject]*Limits }

func newRecords() (*records, control.Kinds) {
	r := new(records)
	return r, control.Kinds{table.Into(&r.limits)}
}

// replace replaces the meters with those of the existing limits. Subjects that stay keep theirs. The set's lock is
// held.
func (t *Tenants) replace(_, now *records) {
	if len(now.limits) == 0 {
		t.meters.Store(nil)
		return
	}
	old := t.all()
	meters := make(map[Subject]*meter, len(now.limits))
	for s, l := range now.limits {
		m := old[s]
		if m == nil {
			m = newMeter(s)
		}
		if had := m.limits.Load(); had == nil || !maps.Equal(*had, *l) {
			m.set(*l, t.o.Now())
		}
		meters[s] = m
	}
	t.meters.Store(&meters)
}

// Check reads the records of a store without changing anything. It returns the number of subjects with limits and a
// list of inconsistencies. An error means that the store cannot be read.
func Check(s *store.Store) (subjects int, problems []string, err error) {
	r, err := control.Check(s, Prefix, newRecords, func(_ string, bad error) {
		problems = append(problems, "record "+bad.Error())
	})
	if err != nil {
		return 0, problems, fmt.Errorf("check limits: %w", err)
	}
	return len(r.limits), problems, nil
}
