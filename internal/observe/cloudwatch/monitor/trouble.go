package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
)

// Trouble is in the record of a metric alarm whose last evaluation failed. Older programs drop it. The next evaluation
// finds it again.
type Trouble struct {
	Kind   TroubleKind
	Reason string `json:",omitempty"` // of a Misconfigured alarm, in a sentence
}

// TroubleKind is a kind of Trouble.
type TroubleKind string

// The kinds of trouble, with AWS's names.
const (
	Misconfigured TroubleKind = "EVALUATION_ERROR"   // the alarm has to be changed
	Unreadable    TroubleKind = "EVALUATION_FAILURE" // the next evaluation may succeed
)

// unfitError is the mistake of an alarm whose expressions result in something that an alarm cannot watch.
type unfitError struct{ reason string }

func (e *unfitError) Error() string { return e.reason }

func unfit(format string, args ...any) *unfitError { return &unfitError{fmt.Sprintf(format, args...)} }

// troubleOf returns the trouble that an error of an evaluation means for an alarm; nil means none. An interrupted
// evaluation means nothing new.
func troubleOf(was *Alarm, err error) *Trouble {
	if err == nil {
		return nil
	}
	_, wrong := errors.AsType[*metricdata.Error](err)
	_, unfit := errors.AsType[*unfitError](err)
	_, tooMuch := errors.AsType[*budget.Excess](err)
	switch {
	case errors.Is(err, context.Canceled):
		return was.Trouble
	case wrong, unfit, tooMuch:
		return &Trouble{Misconfigured, "The alarm cannot be evaluated: " + err.Error() + "."}
	}
	return &Trouble{Kind: Unreadable}
}

// isTrouble reports whether the alarm has that trouble; nil means none.
func (a *Alarm) isTrouble(t *Trouble) bool {
	return a.Trouble == nil && t == nil || a.Trouble != nil && t != nil && *a.Trouble == *t
}

// IsWarmingUp reports whether a metric alarm waits for the end of its warm-up period.
func (a *Alarm) IsWarmingUp(now time.Time) bool {
	return a.State == alarm.Insufficient && a.WarmUp != nil &&
		now.Before(a.Created.Add(time.Duration(a.WarmUp.Minutes)*time.Minute))
}

// evaluated stores the verdict of an evaluation.
func (tx *Tx) evaluated(v verdict, now time.Time) error {
	is := v.alarm
	if !is.isTrouble(v.trouble) {
		is = is.Clone()
		is.Trouble, is.StateSet = v.trouble, stamp(now)
		tx.put(is)
	}
	if v.trouble != nil || v.decision.State == is.State {
		return nil
	}
	return tx.Transition(is, v.decision, now)
}
