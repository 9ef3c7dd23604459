package declared

import "testing"

// A delivery policy in a file equals the one that SNS shows for it.
func TestDeliveryPolicies(t *testing.T) {
	t.Parallel()
	const retries = `"minDelayTarget":1,"maxDelayTarget":2,"numRetries":0`
	const shownRetries = retries +
		`,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"`
	for _, c := range []struct {
		written, shown string
		same           bool
	}{
		{`{"http": {"defaultHealthyRetryPolicy": null}}`, `{"http":{"disableSubscriptionOverrides":false}}`, true},
		{`{"http":{"defaultHealthyRetryPolicy":{` + retries + `}}}`,
			`{"http":{"defaultHealthyRetryPolicy":{` + shownRetries + `},"disableSubscriptionOverrides":false}}`, true},
		{`{"requestPolicy":{"headerContentType":"text/csv"}}`,
			`{"healthyRetryPolicy":null,"sicklyRetryPolicy":null,"throttlePolicy":null,"requestPolicy":{"headerContentType":"text/csv"},"guaranteed":false}`, true},
		{`{"http":{"disableSubscriptionOverrides":true}}`, `{"http":{"disableSubscriptionOverrides":false}}`, false},
		{`{"healthyRetryPolicy":{` + retries + `,"backoffFunction":"geometric"}}`,
			`{"healthyRetryPolicy":{` + shownRetries + `}}`, false},
	} {
		if got := deliveryShape.same(c.written, c.shown); got != c.same {
			t.Errorf("%s and %s: %t", c.written, c.shown, got)
		}
	}
}
