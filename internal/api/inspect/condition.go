package inspect

import "time"

// A condition sums up the state of a queue in a word. If several apply, it is the most urgent one.
const (
	conditionDeadLetters         = "DeadLetters"      // it has some in its dead-letter queue
	conditionHoldsLetters        = "HoldsDeadLetters" // it is a dead-letter queue and not empty
	conditionNoConsumer          = "NoConsumer"       // messages could be received, and no consumer asks
	conditionPaused              = "Paused"
	conditionFallingBehind       = "FallingBehind" // more comes than goes, or the oldest message is very old
	conditionWaiting             = "Waiting"       // there are messages, and none can be received now
	conditionWorking             = "Working"
	conditionEmpty               = "Empty"
	consumedWithin               = time.Minute
	behindAfter                  = 5 * time.Minute // with more messages sent than gone
	behindAnyway                 = time.Hour
	behindShare            int64 = 20 // at least one in this many sent messages stays
)

// ranks are how much a queue of a condition needs attention.
var ranks = map[string]int64{
	conditionDeadLetters: 7, conditionHoldsLetters: 6, conditionNoConsumer: 5, conditionPaused: 4,
	conditionFallingBehind: 3, conditionWaiting: 2, conditionWorking: 1, conditionEmpty: 0,
}

// A queue whose state is not known now comes before all others, and one whose state the caller may not see comes last.
const (
	rankUnknown = 8
	rankUnseen  = -1
)

// conditionOf returns the condition of a queue.
func conditionOf(st *listedState, now time.Time) string {
	waiting := st.Visible + st.InFlight
	last := orNone(st.LastReceiveTimestamp)
	consumed := st.WaitingReceives > 0 || last > now.Add(-consumedWithin).UnixMilli()
	switch {
	case st.Paused:
		return conditionPaused
	case orNone(st.DeadLetters) > 0:
		return conditionDeadLetters
	case st.DeadLetterSources > 0 && waiting > 0:
		return conditionHoldsLetters
	case st.Visible > 0 && !consumed:
		return conditionNoConsumer
	case isBehind(st, now):
		return conditionFallingBehind
	case st.Visible > 0 && !st.Receivable:
		return conditionWaiting
	case waiting+st.Delayed == 0:
		return conditionEmpty
	}
	return conditionWorking
}

// isBehind reports whether consumers are slower than producers.
func isBehind(st *listedState, now time.Time) bool {
	if st.Visible == 0 || st.OldestMessageTimestamp == nil {
		return false
	}
	old := now.Sub(time.UnixMilli(*st.OldestMessageTimestamp))
	if old >= behindAnyway {
		return true
	}
	if old < behindAfter || st.LastMinute == nil {
		return false
	}
	m := st.LastMinute
	grows := m.Sent - m.Deleted - m.DeadLettered - m.Expired - m.Moved
	return grows >= 1 && grows*behindShare >= m.Sent
}

// attention puts the queues first that need it most, and of those the ones with the most messages.
func (q *seenQueue) attention() (int64, int64) {
	switch st := q.state; {
	case st != nil:
		many := st.Visible + st.InFlight
		if st.Condition == conditionDeadLetters {
			many = *st.DeadLetters
		}
		return -ranks[st.Condition], -many
	case q.unavailable:
		return -rankUnknown, 0
	}
	return -rankUnseen, 0
}
