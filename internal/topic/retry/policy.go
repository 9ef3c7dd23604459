package retry

import (
	"encoding/json"
	"math"
	"time"
)

// Backoff is the function by which delays grow.
type Backoff string

const (
	Linear      Backoff = "linear"
	Arithmetic  Backoff = "arithmetic"
	Geometric   Backoff = "geometric"
	Exponential Backoff = "exponential"
)

// Retries is a retry policy. Its delays are in seconds.
type Retries struct {
	MinDelayTarget     int     `json:"minDelayTarget"`
	MaxDelayTarget     int     `json:"maxDelayTarget"`
	NumRetries         int     `json:"numRetries"`
	NumMaxDelayRetries int     `json:"numMaxDelayRetries"`
	NumNoDelayRetries  int     `json:"numNoDelayRetries"`
	NumMinDelayRetries int     `json:"numMinDelayRetries"`
	BackoffFunction    Backoff `json:"backoffFunction"`
}

// DefaultRetries are for HTTP endpoints whose policy does not set retries.
var DefaultRetries = Retries{MinDelayTarget: 20, MaxDelayTarget: 20, NumRetries: 3, BackoffFunction: Linear}

// MailRetries are for mail, and no policy changes them: 50 attempts in six hours.
var MailRetries = Retries{
	MinDelayTarget: 10, MaxDelayTarget: 600, NumRetries: 49, NumMinDelayRetries: 2, NumMaxDelayRetries: 37,
	BackoffFunction: Exponential,
}

// DefaultContentType is the content type of HTTP deliveries.
const DefaultContentType = "text/plain; charset=UTF-8"

// Policy is the policy that applies to a delivery.
type Policy struct {
	Retries     Retries
	PerSecond   int // deliveries that an endpoint gets at most in a second; 0: as many as there are
	ContentType string
}

// Topic is the delivery policy of a topic. Its zero value sets nothing.
type Topic struct {
	retries     *Retries
	perSecond   int
	contentType string
	noOverrides bool
}

// Subscription is the delivery policy of a subscription. Its zero value sets nothing.
type Subscription struct {
	retries     *Retries
	perSecond   int
	contentType string
	written     shownSubscription
}

// Effective returns the policy of a subscription of a topic.
func Effective(t Topic, s Subscription) Policy {
	if t.noOverrides {
		s = Subscription{}
	}
	p := Policy{Retries: DefaultRetries, PerSecond: t.perSecond, ContentType: DefaultContentType}
	for _, r := range []*Retries{t.retries, s.retries} {
		if r != nil {
			p.Retries = *r
		}
	}
	for _, c := range []string{t.contentType, s.contentType} {
		if c != "" {
			p.ContentType = c
		}
	}
	if s.perSecond > 0 {
		p.PerSecond = s.perSecond
	}
	return p
}

// Delay returns how long to wait after a failed attempt, counted from 1, and whether there is another attempt.
func (r *Retries) Delay(attempt int) (d time.Duration, again bool) {
	i := attempt - 1 // the retry, from 0
	if i >= r.NumRetries {
		return 0, false
	}
	if i < r.NumNoDelayRetries {
		return 0, true
	}
	i -= r.NumNoDelayRetries
	shortest, longest := float64(r.MinDelayTarget), float64(r.MaxDelayTarget)
	if i < r.NumMinDelayRetries {
		return seconds(shortest), true
	}
	i -= r.NumMinDelayRetries
	n := r.NumRetries - r.NumNoDelayRetries - r.NumMinDelayRetries - r.NumMaxDelayRetries
	if i >= n-1 {
		return seconds(longest), true
	}
	at, last := float64(i), float64(n-1)
	switch r.BackoffFunction {
	case Arithmetic:
		return seconds(shortest + (longest-shortest)*at*(at+1)/(last*(last+1))), true
	case Geometric:
		return seconds(shortest * math.Pow(longest/shortest, at/last)), true
	case Exponential:
		return seconds(shortest + (longest-shortest)*(math.Exp2(at)-1)/(math.Exp2(last)-1)), true
	}
	return seconds(shortest + (longest-shortest)*at/last), true
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// total returns how long all retries take.
func (r *Retries) total() time.Duration {
	sum := time.Duration(0)
	for attempt := 1; ; attempt++ {
		d, again := r.Delay(attempt)
		if !again {
			return sum
		}
		sum += d
	}
}

// The forms in which SNS shows policies. A topic's policy has the defaults of its parts, and omits missing parts.
// Missing settings of a subscription's policy are null.
type (
	shownTopic struct {
		HTTP struct {
			DefaultHealthyRetryPolicy    *Retries  `json:"defaultHealthyRetryPolicy,omitempty"`
			DisableSubscriptionOverrides bool      `json:"disableSubscriptionOverrides"`
			DefaultThrottlePolicy        *throttle `json:"defaultThrottlePolicy,omitempty"`
			DefaultRequestPolicy         *request  `json:"defaultRequestPolicy,omitempty"`
		} `json:"http"`
	}
	shownSubscription struct {
		HealthyRetryPolicy *shownRetries `json:"healthyRetryPolicy"`
		SicklyRetryPolicy  *shownRetries `json:"sicklyRetryPolicy"`
		ThrottlePolicy     *throttle     `json:"throttlePolicy"`
		RequestPolicy      *request      `json:"requestPolicy"`
		Guaranteed         bool          `json:"guaranteed"`
	}
	shownRetries struct {
		MinDelayTarget     *int     `json:"minDelayTarget"`
		MaxDelayTarget     *int     `json:"maxDelayTarget"`
		NumRetries         *int     `json:"numRetries"`
		NumMaxDelayRetries *int     `json:"numMaxDelayRetries"`
		NumNoDelayRetries  *int     `json:"numNoDelayRetries"`
		NumMinDelayRetries *int     `json:"numMinDelayRetries"`
		BackoffFunction    *Backoff `json:"backoffFunction"`
	}
	throttle struct {
		MaxReceivesPerSecond *int `json:"maxReceivesPerSecond"`
	}
	request struct {
		HeaderContentType string `json:"headerContentType"`
	}
)

// Shown returns the EffectiveDeliveryPolicy of the topic.
func (t Topic) Shown() string {
	p := Effective(t, Subscription{})
	return Topic{&p.Retries, p.PerSecond, p.ContentType, t.noOverrides}.Written()
}

// Written returns the DeliveryPolicy of the topic: what was set, with the defaults of its parts.
func (t Topic) Written() string {
	var s shownTopic
	s.HTTP.DefaultHealthyRetryPolicy = t.retries
	s.HTTP.DisableSubscriptionOverrides = t.noOverrides
	s.HTTP.DefaultThrottlePolicy = throttleOf(t.perSecond)
	s.HTTP.DefaultRequestPolicy = requestOf(t.contentType)
	return encode(s)
}

// Shown returns the EffectiveDeliveryPolicy of a subscription.
func (p Policy) Shown() string {
	r := &p.Retries
	return encode(shownSubscription{
		HealthyRetryPolicy: &shownRetries{
			&r.MinDelayTarget, &r.MaxDelayTarget, &r.NumRetries, &r.NumMaxDelayRetries, &r.NumNoDelayRetries,
			&r.NumMinDelayRetries, &r.BackoffFunction,
		},
		ThrottlePolicy: throttleOf(p.PerSecond), RequestPolicy: requestOf(p.ContentType),
	})
}

// Written returns the DeliveryPolicy of the subscription as it was set.
func (s Subscription) Written() string { return encode(s.written) }

func throttleOf(perSecond int) *throttle {
	if perSecond == 0 {
		return nil
	}
	return &throttle{&perSecond}
}

func requestOf(contentType string) *request {
	if contentType == "" {
		return nil
	}
	return &request{contentType}
}

// encode is for values of this package, all of which have a JSON form.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
