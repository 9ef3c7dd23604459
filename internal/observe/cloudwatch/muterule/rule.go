package muterule

import (
	"net/url"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Key identifies a rule.
type Key struct {
	series.Scope
	Name string
}

// ARN returns the Amazon Resource Name of a rule, whether or not it exists.
func (k Key) ARN() string {
	return "arn:aws:cloudwatch:" + k.Region + ":" + k.Account + ":alarm-mute-rule:" + k.Name
}

func (k Key) text() string { return k.Account + "/" + k.Region + "/" + url.PathEscape(k.Name) }

func parseKey(text string) (k Key, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return k, control.ErrUnknown
	}
	k.Scope = series.Scope{Account: parts[0], Region: parts[1]}
	k.Name, err = url.PathUnescape(parts[2])
	return k, err
}

// Rule is a rule. It is immutable.
type Rule struct {
	Key
	Description *string `json:",omitempty"`
	Expression  string
	Duration    string
	Timezone    string
	Alarms      []string          `json:",omitempty"` // names, in the order in which they were given
	Start       time.Time         `json:",omitzero"`  // when the rule takes effect; zero: at once
	Expire      time.Time         `json:",omitzero"`  // when it ends; zero: never
	Updated     time.Time         // its configuration
	Tags        map[string]string `json:",omitempty"`

	schedule *Schedule // nil: the record is invalid, and the rule mutes nothing
	size     int       // of the stored record, in bytes
}

// read parses the schedule.
func (r *Rule) read() (err error) {
	r.schedule, err = Parse(r.Expression, r.Duration, r.Timezone)
	return err
}

// Status is the status of a rule.
type Status string

// The statuses of rules.
const (
	Scheduled Status = "SCHEDULED"
	Active    Status = "ACTIVE"
	Expired   Status = "EXPIRED" // and mutes nothing any more
)

// Status returns the status of the rule at a time.
func (r *Rule) Status(now time.Time) Status {
	switch s := r.schedule; {
	case !r.Expire.IsZero() && !now.Before(r.Expire), s == nil, s.over(now):
		return Expired
	case now.Before(r.Start), !s.Open(now):
		return Scheduled
	}
	return Active
}

// Kind distinguishes rules with one window from those with many.
type Kind string

// The kinds of rules.
const (
	OneTime   Kind = "ONE_TIME"
	Recurring Kind = "RECURRING"
)

// Kind returns the kind of the rule.
func (r *Rule) Kind() Kind {
	if strings.HasPrefix(r.Expression, atPrefix) {
		return OneTime
	}
	return Recurring
}
