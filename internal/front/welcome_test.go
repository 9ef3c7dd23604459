package front

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A browser gets a page that explains the address. SQS answers programs, signed requests and requests with parameters.
func TestIsVisit(t *testing.T) {
	const page = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, c := range []struct {
		method, target, accept, header string
		want                           bool
	}{
		{"GET", "/", page, "", true},
		{"GET", "/ops/sluice/", page, "", true},
		{"GET", "/ops/sluice", page, "", true},
		{"GET", "/", "*/*", "", false},
		{"GET", "/", "", "", false},
		{"GET", "/", "application/json", "", false},
		{"GET", "/?Action=ListQueues", page, "", false},
		{"GET", "/000000000000/q", page, "", false},
		{"GET", "/", page, "Authorization", false},
		{"GET", "/", page, "X-Amz-Target", false},
	} {
		r := httptest.NewRequest(c.method, c.target, http.NoBody)
		r.Header.Set("Accept", c.accept)
		if c.header != "" {
			r.Header.Set(c.header, "x")
		}
		if got := isVisit(r, "/ops/sluice"); got != c.want {
			t.Errorf("%s %s, Accept %q, with %q: %v", c.method, c.target, c.accept, c.header, got)
		}
	}
}
