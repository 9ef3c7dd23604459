package inspect

import (
	"testing"
	"time"
)

func TestCondition(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	ago := func(d time.Duration) *int64 {
		at := now.Add(-d).UnixMilli()
		return &at
	}
	three := int64(3)
	minute := func(sent, deleted, failed int64) *queueActivity {
		return &queueActivity{Sent: sent, Deleted: deleted, DeadLettered: failed}
	}
	busy := listedState{Visible: 9, WaitingReceives: 1, Receivable: true, OldestMessageTimestamp: ago(6 * time.Minute)}
	with := func(m *queueActivity) listedState { st := busy; st.LastMinute = m; return st }
	for what, c := range map[string]struct {
		state listedState
		want  string
	}{
		"nothing":                 {listedState{}, conditionEmpty},
		"only delayed messages":   {listedState{Delayed: 1}, conditionWorking},
		"only messages in flight": {listedState{InFlight: 1}, conditionWorking},
		"a receive waits":         {busy, conditionWorking},
		"a receive lately": {listedState{Visible: 1, Receivable: true,
			LastReceiveTimestamp: ago(59 * time.Second)}, conditionWorking},
		"a receive a minute ago": {listedState{Visible: 1, Receivable: true,
			LastReceiveTimestamp: ago(time.Minute)}, conditionNoConsumer},
		"no receive":              {listedState{Visible: 1, Receivable: true}, conditionNoConsumer},
		"nothing can be received": {listedState{Visible: 1, WaitingReceives: 1}, conditionWaiting},
		"paused": {listedState{Visible: 1, Paused: true, DeadLetters: &three},
			conditionPaused},
		"dead letters":                       {listedState{DeadLetters: &three}, conditionDeadLetters},
		"dead letters of other queues":       {listedState{Visible: 1, DeadLetterSources: 2}, conditionHoldsLetters},
		"an empty dead-letter queue":         {listedState{DeadLetterSources: 2}, conditionEmpty},
		"more comes than goes":               {with(minute(150, 90, 7)), conditionFallingBehind},
		"as much goes as comes":              {with(minute(150, 140, 10)), conditionWorking},
		"one of many stays, which is chance": {with(minute(150, 149, 0)), conditionWorking},
		"a very old message": {
			listedState{Visible: 1, WaitingReceives: 1, Receivable: true, OldestMessageTimestamp: ago(time.Hour)},
			conditionFallingBehind,
		},
	} {
		if got := conditionOf(&c.state, now); got != c.want {
			t.Errorf("%s: %s; want %s", what, got, c.want)
		}
	}
}

func TestReversed(t *testing.T) {
	t.Parallel()
	names := []string{"0", "a", "a-", "a-b", "aa", "b", "b.fifo"}
	for i := 1; i < len(names); i++ {
		if reversed(names[i-1]) <= reversed(names[i]) {
			t.Errorf("%s is not after %s", names[i-1], names[i])
		}
	}
}
