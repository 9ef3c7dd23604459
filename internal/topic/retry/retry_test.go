package retry

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func parseBoth(t *testing.T, topic, subscription string) Policy {
	t.Helper()
	var tp Topic
	var sub Subscription
	var err error
	if topic != "" {
		if tp, err = ParseTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	if subscription != "" {
		if sub, err = ParseSubscription(subscription); err != nil {
			t.Fatal(err)
		}
	}
	return Effective(tp, sub)
}

func TestEffective(t *testing.T) {
	const (
		topic    = `{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":2,"numRetries":5},"defaultThrottlePolicy":{"maxReceivesPerSecond":7},"defaultRequestPolicy":{"headerContentType":"application/json"}}}`
		fixed    = `{"http":{"disableSubscriptionOverrides":true,"defaultThrottlePolicy":null}}`
		own      = `{"healthyRetryPolicy":{"minDelayTarget":3,"maxDelayTarget":3,"numRetries":0,"backoffFunction":"geometric"},"throttlePolicy":{"maxReceivesPerSecond":1},"requestPolicy":{"headerContentType":"text/csv; charset=UTF-8"},"guaranteed":false,"sicklyRetryPolicy":null}`
		standard = `"minDelayTarget":20,"maxDelayTarget":20,"numRetries":3,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"`
	)
	for _, c := range []struct {
		topic, subscription, want string
	}{
		{"", "",
			`{"healthyRetryPolicy":{` + standard +
				`},"sicklyRetryPolicy":null,"throttlePolicy":null,"requestPolicy":{"headerContentType":"text/plain; charset=UTF-8"},"guaranteed":false}`},
		{topic, "",
			`{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":2,"numRetries":5,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"sicklyRetryPolicy":null,"throttlePolicy":{"maxReceivesPerSecond":7},"requestPolicy":{"headerContentType":"application/json"},"guaranteed":false}`},
		{topic, own,
			`{"healthyRetryPolicy":{"minDelayTarget":3,"maxDelayTarget":3,"numRetries":0,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"geometric"},"sicklyRetryPolicy":null,"throttlePolicy":{"maxReceivesPerSecond":1},"requestPolicy":{"headerContentType":"text/csv; charset=UTF-8"},"guaranteed":false}`},
		{fixed, own,
			`{"healthyRetryPolicy":{` + standard +
				`},"sicklyRetryPolicy":null,"throttlePolicy":null,"requestPolicy":{"headerContentType":"text/plain; charset=UTF-8"},"guaranteed":false}`},
	} {
		if got := parseBoth(t, c.topic, c.subscription).Shown(); got != c.want {
			t.Errorf("%s and %s: %s", c.topic, c.subscription, got)
		}
	}
	if got := (Topic{}).Shown(); got != `{"http":{"defaultHealthyRetryPolicy":{`+standard+
		`},"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"text/plain; charset=UTF-8"}}}` {
		t.Error(got)
	}
	tp, err := ParseTopic(topic)
	if err != nil || !strings.Contains(tp.Shown(), `"defaultThrottlePolicy":{"maxReceivesPerSecond":7}`) {
		t.Error(tp.Shown(), err)
	}
	if tp, err = ParseTopic(tp.Shown()); err != nil || Effective(tp, Subscription{}).PerSecond != 7 {
		t.Error("the shown policy cannot be set", err)
	}
}

// delays returns the delays of all retries in seconds.
func delays(r Retries) []float64 {
	var out []float64
	for attempt := 1; ; attempt++ {
		d, again := r.Delay(attempt)
		if !again {
			return out
		}
		out = append(out, d.Seconds())
	}
}

func TestDelays(t *testing.T) {
	r := Retries{
		MinDelayTarget: 2, MaxDelayTarget: 32, NumRetries: 10, NumNoDelayRetries: 2, NumMinDelayRetries: 1,
		NumMaxDelayRetries: 2,
	}
	for backoff, want := range map[Backoff][]float64{
		Linear:      {0, 0, 2, 2, 9.5, 17, 24.5, 32, 32, 32},
		Arithmetic:  {0, 0, 2, 2, 5, 11, 20, 32, 32, 32},
		Geometric:   {0, 0, 2, 2, 4, 8, 16, 32, 32, 32},
		Exponential: {0, 0, 2, 2, 4, 8, 16, 32, 32, 32},
	} {
		r.BackoffFunction = backoff
		got := delays(r)
		if len(got) != len(want) {
			t.Fatalf("%s: %v", backoff, got)
		}
		for i := range got {
			if d := got[i] - want[i]; d < -0.001 || d > 0.001 {
				t.Errorf("%s: %v", backoff, got)
				break
			}
		}
	}
	if got := delays(DefaultRetries); len(got) != 3 || got[0] != 20 || got[2] != 20 {
		t.Error(got)
	}
	if got := delays(Retries{MinDelayTarget: 1, MaxDelayTarget: 9, NumRetries: 1}); len(got) != 1 || got[0] != 9 {
		t.Error(got)
	}
	mail := delays(MailRetries)
	if len(mail) != 49 || mail[0] != 10 || mail[48] != 600 || MailRetries.total() < 6*time.Hour {
		t.Error(mail, MailRetries.total())
	}
}

func TestRefusals(t *testing.T) {
	healthy := func(s string) string { return `{"healthyRetryPolicy":{` + s + `}}` }
	for _, c := range []struct{ policy, want string }{
		{`{`, "DeliveryPolicy: failed to parse JSON"},
		{`[]`, "DeliveryPolicy: the policy must be a JSON object"},
		{`null`, "DeliveryPolicy: the policy must be a JSON object"},
		{`{"http":{}}`, "DeliveryPolicy: Unexpected JSON member: http"},
		{`{"healthyRetryPolicy":1}`, "DeliveryPolicy: healthyRetryPolicy must be a JSON object"},
		{healthy(`"minDelayTarget":0`),
			"DeliveryPolicy: healthyRetryPolicy.minDelayTarget must be greater than or equal to 1"},
		{healthy(`"maxDelayTarget":3601`),
			"DeliveryPolicy: healthyRetryPolicy.maxDelayTarget must be less than or equal to 3600"},
		{healthy(`"numRetries":1e3`), "DeliveryPolicy: healthyRetryPolicy.numRetries must be a whole number"},
		{healthy(`"minDelayTarget":"20"`),
			"DeliveryPolicy: healthyRetryPolicy.minDelayTarget type mismatch, expecting integer, received a string"},
		{healthy(`"numRetries":101`),
			"DeliveryPolicy: healthyRetryPolicy.numRetries must be less than or equal to 100"},
		{healthy(`"numNoDelayRetries":-1`),
			"DeliveryPolicy: healthyRetryPolicy.numNoDelayRetries must be greater than or equal to 0"},
		{healthy(`"numRetries":1,"minDelayTarget":1`),
			"DeliveryPolicy: healthyRetryPolicy.maxDelayTarget must be specified"},
		{healthy(`"numRetries":1,"minDelayTarget":2,"maxDelayTarget":1`),
			"DeliveryPolicy: healthyRetryPolicy.maxDelayTarget must be greater than or equal to minDelayTarget"},
		{healthy(`"numRetries":1,"minDelayTarget":1,"maxDelayTarget":1,"numMinDelayRetries":2`),
			"DeliveryPolicy: healthyRetryPolicy.numRetries must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries"},
		{healthy(`"numRetries":10,"minDelayTarget":3600,"maxDelayTarget":3600`),
			"DeliveryPolicy: healthyRetryPolicy: all retries together must take at most 3600 seconds, and would take 36000"},
		{healthy(`"backoffFunction":"cubic"`),
			"DeliveryPolicy: healthyRetryPolicy.backoffFunction must be one of: linear, arithmetic, geometric, exponential"},
		{`{"throttlePolicy":{"maxReceivesPerSecond":0}}`,
			"DeliveryPolicy: throttlePolicy.maxReceivesPerSecond must be greater than or equal to 1"},
		{`{"requestPolicy":{"headerContentType":"image/png"}}`,
			"DeliveryPolicy: requestPolicy.headerContentType must be one of these"},
		{`{"requestPolicy":{"headerContentType":"text/plain; charset=\"a\r\nb\""}}`,
			"DeliveryPolicy: requestPolicy.headerContentType must be one of these"},
		{`{"guaranteed":1}`, "DeliveryPolicy: guaranteed must be true or false"},
		{`{"` + strings.Repeat("x", 1000) + `":1}`,
			"DeliveryPolicy: Unexpected JSON member: " + strings.Repeat("x", 60) + "…"},
		{`{"x":"` + strings.Repeat("x", MaxBytes) + `"}`, "DeliveryPolicy: the policy is longer than 16384 bytes"},
	} {
		_, err := ParseSubscription(c.policy)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.100s: %v", c.policy, err)
		}
	}
	_, err := ParseTopic(`{"http":{"defaultHealthyRetryPolicy":{"numRetries":101}}}`)
	if err == nil ||
		err.Error() != "DeliveryPolicy: http.defaultHealthyRetryPolicy.numRetries must be less than or equal to 100" {
		t.Error(err)
	}
}

// An accepted policy has delays within its bounds and an end.
func FuzzPolicy(f *testing.F) {
	f.Add(`{"healthyRetryPolicy":{"minDelayTarget":3,"maxDelayTarget":9,"numRetries":7,"backoffFunction":"exponential"},"requestPolicy":{"headerContentType":"text/csv"}}`)
	f.Add(`{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":36,"numRetries":100,"numNoDelayRetries":50,"backoffFunction":"geometric"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		topic, topicErr := ParseTopic(text)
		s, err := ParseSubscription(text)
		if topicErr != nil && err != nil {
			return
		}
		p := Effective(topic, s)
		if strings.ContainsAny(p.ContentType, "\r\n") {
			t.Errorf("content type %q", p.ContentType)
		}
		all := delays(p.Retries)
		if len(all) != p.Retries.NumRetries || p.Retries.total() > maxTotal {
			t.Errorf("%d retries in %s", len(all), p.Retries.total())
		}
		for _, d := range all {
			if d != 0 && (d < float64(p.Retries.MinDelayTarget) || d > float64(p.Retries.MaxDelayTarget)) {
				t.Errorf("a delay of %v", d)
			}
		}
	})
}
