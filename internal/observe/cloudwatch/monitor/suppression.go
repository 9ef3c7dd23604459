package monitor

import (
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
)

// Suppressor is what keeps the actions of a composite alarm from being carried out.
type Suppressor string

// The reasons for a suppression.
const (
	ByAlarm           Suppressor = "Alarm" // the suppressor is in ALARM
	ByWaitPeriod      Suppressor = "WaitPeriod"
	ByExtensionPeriod Suppressor = "ExtensionPeriod"
)

// Suppression is the state of the actions of a composite alarm that has a suppressor:
//
//	        the alarm enters a state               the suppressor leaves ALARM
//	───────────────► WaitPeriod ──► ByAlarm ◄─────────────────► ExtensionPeriod
//	                      │   the suppressor alarms                    │
//	                      └──────────────► nothing ◄───────────────────┘  the period ends: due actions are carried out
//
// An alarm that enters another state in a period starts a new WaitPeriod, and at its end carries out the actions of
// the state that it then has. All of this is in the alarm's record, so that another node can continue.
type Suppression struct {
	By    Suppressor  `json:",omitempty"` // empty: nothing
	Until time.Time   `json:",omitzero"`  // when the period ends
	Due   bool        `json:",omitempty"` // actions are to be carried out when nothing suppresses them any more
	From  alarm.State `json:",omitempty"` // the state before the one that they are about
}

// Reason returns a sentence about the reason for a suppression.
func (s Suppression) Reason() string {
	if s.By == "" {
		return ""
	}
	return "Actions suppressed by " + string(s.By)
}

// under returns the suppression after a change of the alarm. If the suppressor has changed, its periods start over.
func (s Suppression) under(same bool) Suppression {
	if !same {
		s.By, s.Until = "", time.Time{}
	}
	return s
}

// suppress updates the suppression for the alarm's state, which was that of was, and its suppressor. It reports whether
// to carry out actions now; From is then the state that the alarm left.
func (a *Alarm) suppress(was *Alarm, find findAlarm, now time.Time) (act bool) {
	s := &a.Composite.Suppression
	entered := a.State != was.State
	if entered {
		s.Due, s.From = true, was.State
	}
	a.advance(s, entered, find, now)
	if s.By != "" || !s.Due {
		return false
	}
	s.Due = false
	return true
}

// advance updates the suppression as the suppressor changes.
func (a *Alarm) advance(s *Suppression, entered bool, find findAlarm, now time.Time) {
	name, ok := a.suppressor()
	if !ok {
		s.By, s.Until = "", time.Time{}
		return
	}
	suppressor := find(name)
	switch alarms := suppressor != nil && suppressor.State == alarm.Alarm; {
	case alarms:
		s.By, s.Until = ByAlarm, time.Time{}
		return
	case entered:
		s.By, s.Until = ByWaitPeriod, after(now, a.Composite.Wait)
	case s.By == ByAlarm && suppressor != nil:
		s.By, s.Until = ByExtensionPeriod, after(suppressor.StateBegan, a.Composite.Extension)
	case s.By == ByAlarm: // it was deleted
		s.By = ""
	}
	if s.By != "" && !now.Before(s.Until) {
		s.By, s.Until = "", time.Time{}
	}
}

func after(t time.Time, seconds int) time.Time {
	return stamp(t.Add(time.Duration(seconds) * time.Second))
}
