package monitor

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarmrule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Composite holds the fields of an alarm that combines the states of others, its children.
type Composite struct {
	Rule       string
	Suppressor string `json:",omitempty"` // the name or ARN of the alarm that suppresses the actions
	Wait       int    `json:",omitempty"` // seconds that the actions wait for the suppressor to alarm
	Extension  int    `json:",omitempty"` // seconds that they stay suppressed when it no longer does

	// Held records the states of the children when the state was set by hand. The state stays until the children have
	// other states.
	Held string `json:",omitempty"`

	Suppression Suppression `json:",omitzero"`

	expression *alarmrule.Expression // nil: Rule is invalid, and the alarm is not evaluated
	children   []Name                // in the order of expression
}

// NewComposite returns the composite part of an alarm of a scope with that rule. Its error is an *alarmrule.Error.
func NewComposite(in series.Scope, rule string) (*Composite, error) {
	c := &Composite{Rule: rule}
	return c, c.read(in)
}

// read parses the rule.
func (c *Composite) read(in series.Scope) (err error) {
	if c.expression, err = alarmrule.Parse(c.Rule); err != nil {
		return err
	}
	c.children = nil
	for _, ref := range c.expression.Children() {
		name := Referenced(in, ref)
		if !slices.Contains(c.children, name) {
			c.children = append(c.children, name)
		}
	}
	return nil
}

// readAs takes over what the earlier record of the alarm was parsed to, if the rule is the same: most changes are of
// the state. It reports whether it has.
func (c *Composite) readAs(was *Alarm) bool {
	if was == nil || was.Composite == nil || was.Composite.Rule != c.Rule || was.Composite.expression == nil {
		return false
	}
	c.expression, c.children = was.Composite.expression, was.Composite.children
	return true
}

// Children returns the names of the alarms in the rule, each once.
func (c *Composite) Children() []Name { return c.children }

// Referenced returns the alarm that a name or an ARN refers to within a scope. An ARN of another scope refers to an
// alarm that does not exist.
func Referenced(in series.Scope, ref string) Name {
	if name, ok := strings.CutPrefix(ref, Name{Scope: in}.ARN()); ok {
		return Name{in, name}
	}
	return Name{in, ref}
}

// suppressor returns the alarm that suppresses the actions of a composite alarm.
func (a *Alarm) suppressor() (n Name, ok bool) {
	if a.Composite == nil || a.Composite.Suppressor == "" {
		return n, false
	}
	return Referenced(a.Scope, a.Composite.Suppressor), true
}

// findAlarm returns the alarm of that name, or nil.
type findAlarm func(Name) *Alarm

// heldStates returns the states of an alarm's children in the form of Held.
func (a *Alarm) heldStates(find findAlarm) string {
	letters := make([]string, len(a.Composite.children))
	for i, name := range a.Composite.children {
		letters[i] = "-"
		if child := find(name); child != nil {
			letters[i] = string(child.State[:min(1, len(child.State))])
		}
	}
	return "held:" + strings.Join(letters, "")
}

// decide returns the state that a composite alarm should have, and the reason if it differs from the present one.
func (a *Alarm) decide(find findAlarm) alarm.Decision {
	holds := a.Composite.expression.Holds(func(ref string) alarm.State {
		if child := find(Referenced(a.Scope, ref)); child != nil {
			return child.State
		}
		return ""
	})
	d := alarm.Decision{State: alarm.OK}
	if holds {
		d.State = alarm.Alarm
	}
	if d.State != a.State {
		d.Reason, d.Data = a.reason(find, d.State)
	}
	return d
}

// reasonTime is the format of times in the reasons of composite alarms.
const reasonTime = "Monday 02 January, 2006 15:04:05 MST"

// reason explains why a composite alarm enters a state: because of the child that last changed or, if the alarm was
// changed later, because of that change.
func (a *Alarm) reason(find findAlarm, to alarm.State) (text, data string) {
	var children []*Alarm
	for _, name := range a.Composite.children {
		if child := find(name); child != nil {
			children = append(children, child)
		}
	}
	slices.SortStableFunc(children, func(a, b *Alarm) int { return b.StateBegan.Compare(a.StateBegan) })
	if len(children) > 0 && !children[0].StateBegan.Before(a.Updated) {
		last := children[0]
		text = last.ARN() + " transitioned to " + string(last.State) + " at " + last.StateBegan.UTC().Format(reasonTime)
		return text, triggers(children[:1])
	}
	what := "updated"
	if a.Updated.Equal(a.Created) {
		what = "created"
	}
	return a.ARN() + " was " + what + " and its alarm rule evaluates to " + string(to), triggers(children)
}

// maxTriggers is the maximum number of children in the data of a reason.
const maxTriggers = 10

// triggerData is a child that has decided, in the data of a reason.
type triggerData struct {
	ARN   string       `json:"arn"`
	State triggerState `json:"state"`
}

type triggerState struct {
	Value     alarm.State `json:"value"`
	Timestamp string      `json:"timestamp"`
}

type triggersData struct {
	Alarms []triggerData `json:"triggeringAlarms"`
}

// triggers returns the data of a reason.
func triggers(children []*Alarm) string {
	d := triggersData{[]triggerData{}}
	for _, child := range children[:min(len(children), maxTriggers)] {
		d.Alarms = append(d.Alarms, triggerData{
			child.ARN(), triggerState{child.State, child.StateBegan.UTC().Format(alarm.TimeFormat)},
		})
	}
	return string(encode(d))
}

// triggeredBy returns the children that the reason of an alarm's state names.
func (a *Alarm) triggeredBy() []triggerData {
	var d triggersData
	if json.Unmarshal([]byte(a.ReasonData), &d) != nil { // what SetAlarmState set is free
		return nil
	}
	return d.Alarms
}

// combined returns the updated composite alarm, and whether to carry out its actions. It returns nil if nothing
// changes.
func (a *Alarm) combined(find findAlarm, now time.Time) (is *Alarm, act bool) {
	is = a.Clone()
	if held := is.Composite.Held; held == "" || held != a.heldStates(find) {
		is.Composite.Held = ""
		if d := a.decide(find); d.State != a.State {
			is.enter(d, now)
		}
	}
	act = is.suppress(a, find, now)
	if act || is.State != a.State || is.Composite.Held != a.Composite.Held ||
		is.Composite.Suppression != a.Composite.Suppression {
		return is, act
	}
	return nil, false
}

// enter sets the state of an alarm, which may be its present one.
func (a *Alarm) enter(d alarm.Decision, now time.Time) {
	if d.State != a.State {
		a.StateBegan, a.Muted = stamp(now), nil
	}
	a.State, a.Reason, a.ReasonData, a.StateSet = d.State, d.Reason, d.Data, stamp(now)
}
