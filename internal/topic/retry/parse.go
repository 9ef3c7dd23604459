package retry

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/tool/excerpt"
	"github.com/sluicemq/sluice/internal/topic/jackson"
)

// MaxBytes is the maximum length of a policy.
const MaxBytes = 16 << 10

const (
	maxRetries = 100
	maxDelay   = 3600
	maxTotal   = time.Hour
	maxPerSec  = 1_000_000
)

// Error describes a mistake in a policy. Its text is what SNS puts behind "Invalid parameter: ".
type Error struct{ Reason string }

func (e *Error) Error() string { return "DeliveryPolicy: " + e.Reason }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// ParseTopic reads the policy of a topic. The error is always an *Error.
func ParseTopic(text string) (Topic, error) {
	t := Topic{}
	err := parse(text, members{
		"http": func(path string, v json.RawMessage) error {
			return object(path, v, members{
				"defaultHealthyRetryPolicy":    retries(&t.retries),
				"defaultSicklyRetryPolicy":     ignored,
				"disableSubscriptionOverrides": boolean(&t.noOverrides),
				"defaultThrottlePolicy":        throttled(&t.perSecond),
				"defaultRequestPolicy":         contentType(&t.contentType),
			})
		},
	})
	if err != nil {
		return Topic{}, err
	}
	return t, nil
}

// ParseSubscription reads the policy of a subscription. The error is always an *Error.
func ParseSubscription(text string) (Subscription, error) {
	s := Subscription{}
	err := parse(text, members{
		"healthyRetryPolicy": retries(&s.retries),
		"sicklyRetryPolicy":  ignored,
		"throttlePolicy":     throttled(&s.perSecond),
		"requestPolicy":      contentType(&s.contentType),
		"guaranteed":         boolean(new(bool)), // it means nothing
	})
	if err != nil {
		return Subscription{}, err
	}
	if err := json.Unmarshal([]byte(text), &s.written); err != nil {
		return Subscription{}, refuse("failed to parse JSON. %v", err) // not of a policy that was just checked
	}
	return s, nil
}

// members lists the members that an object may have. A null member counts as missing.
type members map[string]func(path string, v json.RawMessage) error

func parse(text string, m members) error {
	if len(text) > MaxBytes {
		return refuse("the policy is longer than %d bytes", MaxBytes)
	}
	if !json.Valid([]byte(text)) {
		return refuse("failed to parse JSON. %s", jackson.Fault(text))
	}
	return object("", json.RawMessage(text), m)
}

func object(path string, v json.RawMessage, m members) error {
	var found map[string]json.RawMessage
	if err := json.Unmarshal(v, &found); err != nil || found == nil {
		return refuse("%s must be a JSON object", orPolicy(path))
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		read, known := m[name]
		if !known {
			return refuse("Unexpected JSON member: %s", excerpt.Of(name, 60))
		}
		if string(found[name]) == "null" {
			continue
		}
		if err := read(strings.TrimPrefix(path+"."+name, "."), found[name]); err != nil {
			return err
		}
	}
	return nil
}

func orPolicy(path string) string {
	if path == "" {
		return "the policy"
	}
	return path
}

// ignored is for sickly retry policies, which AWS no longer uses but still accepts.
func ignored(path string, v json.RawMessage) error {
	var p *Retries
	return retries(&p)(path, v)
}

func boolean(to *bool) func(string, json.RawMessage) error {
	return func(path string, v json.RawMessage) error {
		if json.Unmarshal(v, to) != nil {
			return refuse("%s must be true or false", path)
		}
		return nil
	}
}

func number(to *int, least, most int) func(string, json.RawMessage) error {
	return func(path string, v json.RawMessage) error {
		var n int
		kind := kindOf(v)
		switch err := json.Unmarshal(v, &n); {
		case kind != "":
			return refuse("%s type mismatch, expecting integer, received %s", path, kind)
		case err != nil:
			return refuse("%s must be a whole number", path)
		case n < least:
			return refuse("%s must be greater than or equal to %d", path, least)
		case n > most:
			return refuse("%s must be less than or equal to %d", path, most)
		}
		*to = n
		return nil
	}
}

// kindOf returns the kind of a JSON value that is not a number.
func kindOf(v json.RawMessage) string {
	switch v[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	}
	return ""
}

func retries(to **Retries) func(string, json.RawMessage) error {
	return func(path string, v json.RawMessage) error {
		const unset = -1
		r := Retries{MinDelayTarget: unset, MaxDelayTarget: unset, NumRetries: unset, BackoffFunction: Linear}
		err := object(path, v, members{
			"minDelayTarget":     number(&r.MinDelayTarget, 1, maxDelay),
			"maxDelayTarget":     number(&r.MaxDelayTarget, 1, maxDelay),
			"numRetries":         number(&r.NumRetries, 0, maxRetries),
			"numNoDelayRetries":  number(&r.NumNoDelayRetries, 0, maxRetries),
			"numMinDelayRetries": number(&r.NumMinDelayRetries, 0, maxRetries),
			"numMaxDelayRetries": number(&r.NumMaxDelayRetries, 0, maxRetries),
			"backoffFunction":    backoff(&r.BackoffFunction),
		})
		if err != nil {
			return err
		}
		for _, m := range []struct {
			name  string
			value int
		}{{"minDelayTarget", r.MinDelayTarget}, {"maxDelayTarget", r.MaxDelayTarget}, {"numRetries", r.NumRetries}} {
			if m.value == unset {
				return refuse("%s.%s must be specified", path, m.name)
			}
		}
		switch {
		case r.MaxDelayTarget < r.MinDelayTarget:
			return refuse("%s.maxDelayTarget must be greater than or equal to minDelayTarget", path)
		case r.NumNoDelayRetries+r.NumMinDelayRetries+r.NumMaxDelayRetries > r.NumRetries:
			return refuse(
				"%s.numRetries must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries",
				path,
			)
		case r.total() > maxTotal:
			return refuse(
				"%s: all retries together must take at most %d seconds, and would take %d",
				path,
				int(maxTotal.Seconds()),
				int(r.total().Seconds()),
			)
		}
		*to = &r
		return nil
	}
}

func backoff(to *Backoff) func(string, json.RawMessage) error {
	return func(path string, v json.RawMessage) error {
		var b Backoff
		if json.Unmarshal(v, &b) != nil || !slices.Contains([]Backoff{Linear, Arithmetic, Geometric, Exponential}, b) {
			return refuse("%s must be one of: linear, arithmetic, geometric, exponential", path)
		}
		*to = b
		return nil
	}
}

func throttled(to *int) func(string, json.RawMessage) error {
	return func(path string, v json.RawMessage) error {
		return object(path, v, members{"maxReceivesPerSecond": number(to, 1, maxPerSec)})
	}
}

// contentTypes are the content types that SNS sends.
var contentTypes = []string{
	"text/css", "text/csv", "text/html", "text/plain", "text/xml",
	"application/atom+xml", "application/json", "application/octet-stream", "application/soap+xml",
	"application/x-www-form-urlencoded", "application/xhtml+xml", "application/xml",
}

var errContentType = errors.New("not a content type that is sent")

func contentType(to *string) func(string, json.RawMessage) error {
	return func(path string, v json.RawMessage) error {
		return object(path, v, members{"headerContentType": func(path string, v json.RawMessage) error {
			var s string
			if json.Unmarshal(v, &s) != nil || checkContentType(s) != nil {
				return refuse(
					"%s must be one of these, with or without a charset: %s", path, strings.Join(contentTypes, ", "),
				)
			}
			*to = s
			return nil
		}})
	}
}

func checkContentType(s string) error {
	kind, parameters, err := mime.ParseMediaType(s)
	if err != nil || len(s) > 100 || !slices.Contains(contentTypes, kind) {
		return errContentType
	}
	for name, value := range parameters {
		if name != "charset" || !isToken(value) {
			return errContentType
		}
	}
	return nil
}

func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return s != ""
}
