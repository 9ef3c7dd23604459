package alarm

import "time"

// Decision is the state that an alarm should have. If the alarm has it already, there is no reason.
type Decision struct {
	State  State
	Reason string // in a sentence
	Data   string // JSON
}

// evaluation holds the input of a decision.
type evaluation struct {
	rule      *Rule
	now       time.Time
	from, to  time.Time
	points    []Datapoint // that count, in order of time
	breaching int         // of them
	missing   int         // datapoints that there should be
}

// Evaluate decides about an alarm in a state. The datapoints cover r.Window(now), in order of time.
func Evaluate(r *Rule, points []Datapoint, now time.Time, state State) Decision {
	from, to := r.Window(now)
	e := &evaluation{rule: r, now: now, from: from, to: to, points: points[max(0, len(points)-r.Periods):]}
	for _, p := range e.points {
		if r.breaches(p) {
			e.breaching++
		}
	}
	e.missing = r.Periods - len(e.points)
	if now.Before(r.WarmUp) && (r.WaitFully || e.missing > 0) {
		return e.decide(Insufficient, state, "Insufficient Data: the alarm is in its warm-up period.")
	}
	switch {
	case e.missing > 0 && r.Missing == Breaching:
		return e.threshold(e.breaching+e.missing >= r.ToAlarm, state)
	case e.missing == 0 || r.Missing == NotBreaching || e.breaching >= r.ToAlarm || e.breaching < len(e.points):
		return e.threshold(e.breaching >= r.ToAlarm, state)
	case r.Missing == Ignored:
		return Decision{State: state}
	case len(e.points) == 0:
		return e.decide(Insufficient, state, e.unknown())
	}
	// All existing datapoints breach, but they are too few. If it began M periods ago the alarm does not wait for more.
	if !e.points[0].Time.After(r.Step(to, -r.ToAlarm)) {
		return e.threshold(true, state)
	}
	return Decision{State: state}
}

// threshold decides for ALARM or OK.
func (e *evaluation) threshold(alarm bool, state State) Decision {
	if alarm {
		return e.decide(Alarm, state, e.crossed(true))
	}
	return e.decide(OK, state, e.crossed(false))
}

func (e *evaluation) decide(to, state State, reason string) Decision {
	if to == state {
		return Decision{State: state}
	}
	return Decision{State: to, Reason: reason, Data: e.data(to)}
}
