package monitor

import (
	"cmp"
	"slices"
)

// byTurns sorts alarms so that each account has its turn: no account's second alarm is before the first one of another.
// So an account whose alarms take the time of an evaluation delays its own alarms most.
func byTurns(alarms []*Alarm) []*Alarm {
	next := make(map[string]int) // of each account
	turns := make(map[*Alarm]int, len(alarms))
	for _, a := range alarms {
		turns[a] = next[a.Account]
		next[a.Account]++
	}
	slices.SortStableFunc(alarms, func(a, b *Alarm) int { return cmp.Compare(turns[a], turns[b]) })
	return alarms
}
