package monitor

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// turns gives out alarms to be evaluated. The next one belongs to the account whose alarms have taken the least time so
// far, and of several to the one that had the fewest turns. So an account whose alarms take the time of an evaluation
// delays its own alarms only. Its methods are safe for concurrent use.
type turns struct {
	now func() time.Duration // since any moment

	mu       sync.Mutex
	accounts []*turn // in the order of their first alarms
}

// turn is an account whose alarms are evaluated.
type turn struct {
	alarms []*Alarm // that wait
	had    int
	spent  time.Duration // without open
	open   int           // alarms that are being evaluated
	began  time.Duration // the sum of the moments at which these began
}

func newTurns(alarms []*Alarm, now func() time.Duration) *turns {
	t := &turns{now: now}
	of := make(map[string]*turn)
	for _, a := range alarms {
		account := of[a.Account]
		if account == nil {
			account = new(turn)
			of[a.Account] = account
			t.accounts = append(t.accounts, account)
		}
		account.alarms = append(account.alarms, a)
	}
	return t
}

// next returns the next alarm, and a function to be called when it was evaluated; or nil if there are no more.
func (t *turns) next() (a *Alarm, done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.accounts) == 0 {
		return nil, nil
	}
	now := t.now()
	of := slices.MinFunc(t.accounts, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.time(now), b.time(now)), cmp.Compare(a.had, b.had))
	})
	a, of.alarms = of.alarms[0], of.alarms[1:]
	of.had++
	of.open++
	of.began += now
	if len(of.alarms) == 0 {
		t.accounts = slices.DeleteFunc(t.accounts, func(other *turn) bool { return other == of })
	}
	return a, func() { t.end(of, now) }
}

// time returns how long the alarms of an account have been evaluated.
func (of *turn) time(now time.Duration) time.Duration {
	return of.spent + time.Duration(of.open)*now - of.began
}

// end ends the evaluation of an alarm that began at a moment.
func (t *turns) end(of *turn, began time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of.open--
	of.began -= began
	of.spent += t.now() - began
}
