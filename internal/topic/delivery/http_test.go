package delivery

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/topic/egress"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// local returns a sender that may connect to this machine.
func local(t *testing.T) *HTTP {
	t.Helper()
	rules, err := egress.Parse([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return NewHTTP(rules)
}

// serve runs an endpoint until the test ends, and returns its URL.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestRequests(t *testing.T) {
	type received struct {
		header http.Header
		body   string
		user   string
	}
	var got received
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		got = received{r.Header, r.Method + " " + r.URL.Path + " " + string(b), user + ":" + password}
	})
	target := Target{
		Subscription: "arn:aws:sns:us-east-1:000000000000:orders:1", Topic: "arn:aws:sns:us-east-1:000000000000:orders",
		Endpoint: strings.Replace(url, "http://", "http://me:secret@", 1) + "/hook", Policy: standard,
	}
	names := []string{"Content-Type", "User-Agent", "X-Amz-Sns-Message-Type", "X-Amz-Sns-Message-Id",
		"X-Amz-Sns-Topic-Arn", "X-Amz-Sns-Subscription-Arn", "X-Amz-Sns-Rawdelivery", "X-Amzn-Trace-Id"}
	for _, c := range []struct {
		m           Message
		contentType string
		want        []string
	}{
		{
			Message{ID: "0b1a", Body: "{}", Note: note}, "",
			[]string{"text/plain; charset=UTF-8", "Amazon Simple Notification Service Agent", "Notification", "0b1a",
				target.Topic, target.Subscription, "", ""},
		},
		{
			Message{ID: "0b1a", Body: "{}", Note: Note{Type: envelope.TypeNotification, Raw: true}, Trace: "Root=1"},
			"application/json",
			[]string{"application/json", "Amazon Simple Notification Service Agent", "Notification", "0b1a",
				target.Topic, target.Subscription, "true", "Root=1"},
		},
		{
			Message{ID: "0b1a", Body: "{}", Note: Note{Type: envelope.TypeSubscribe}}, "",
			[]string{"text/plain; charset=UTF-8", "Amazon Simple Notification Service Agent",
				"SubscriptionConfirmation", "0b1a", target.Topic, "", "", ""},
		},
	} {
		to := target
		if c.contentType != "" {
			to.Policy.ContentType = c.contentType
		}
		if err := local(t).Send(t.Context(), &to, &c.m); err != nil {
			t.Fatal(err)
		}
		if got.body != "POST /hook {}" || got.user != "me:secret" {
			t.Errorf("%s of %s", got.body, got.user)
		}
		for i, name := range names {
			if v := got.header.Get(name); v != c.want[i] {
				t.Errorf("%s: %q, want %q", name, v, c.want[i])
			}
		}
	}
}

// After an error of the endpoint the delivery is retried, but not after an error that blames the request. Redirects are
// not followed.
func TestStatuses(t *testing.T) {
	for status, want := range map[int]string{
		200: "delivered", 204: "delivered", 299: "delivered",
		301: "permanent", 302: "permanent", 307: "permanent", 400: "permanent", 401: "permanent", 403: "permanent",
		404: "permanent", 410: "permanent",
		429: "again", 500: "again", 502: "again", 503: "again", 599: "again",
	} {
		requests := 0
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		})
		err := local(t).Send(t.Context(), &Target{Endpoint: url, Policy: standard}, &Message{Note: note})
		got := "delivered"
		switch {
		case err != nil && IsPermanent(err):
			got = "permanent"
		case err != nil:
			got = "again"
		}
		if got != want || requests != 1 {
			t.Errorf("%d: %s, %v, %d requests", status, got, err, requests)
		}
	}
}

// Delivery to an unreachable endpoint is retried; errors show no password.
func TestEndpointsThatCannotBeReached(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	url := strings.Replace(dead.URL, "http://", "http://me:secret@", 1)
	for _, endpoint := range []string{url, "http://me:secret@does-not-exist.invalid/"} {
		err := local(t).Send(t.Context(), &Target{Endpoint: endpoint}, &Message{Note: note})
		if err == nil || IsPermanent(err) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	err := local(t).Send(t.Context(), &Target{Endpoint: "http://me:secret@\x00/"}, &Message{Note: note})
	if !IsPermanent(err) || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// The sender does not connect to a forbidden address, not even through a proxy of the environment, and the error names
// the flag.
func TestClosedAddresses(t *testing.T) {
	requests := 0
	url := serve(t, func(http.ResponseWriter, *http.Request) { requests++ })
	t.Setenv("HTTP_PROXY", url)
	t.Setenv("http_proxy", url)
	rules, err := egress.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, endpoint := range []string{url, strings.Replace(url, "127.0.0.1", "localhost", 1),
		strings.Replace(url, "127.0.0.1", "[::ffff:127.0.0.1]", 1)} {
		err := NewHTTP(rules).Send(t.Context(), &Target{Endpoint: endpoint}, &Message{Note: note})
		if err == nil || !strings.Contains(err.Error(), "--egress-allow") || IsPermanent(err) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := local(t).Send(ctx, &Target{Endpoint: "http://does-not-exist.invalid/"}, &Message{
		Note: note,
	}); err == nil {
		t.Error("a proxy was used")
	}
	if requests != 0 {
		t.Errorf("%d requests", requests)
	}
}

// An endless answer neither delays the server nor fills its memory: the status is enough.
func TestAnswersWithoutEnd(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	})
	if err := local(t).Send(t.Context(), &Target{Endpoint: url}, &Message{Note: note}); err != nil {
		t.Error(err)
	}
	url = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 2*maxAnswerHeader))
	})
	if err := local(t).Send(t.Context(), &Target{Endpoint: url}, &Message{Note: note}); err == nil {
		t.Error("a header of 128 KB was read")
	}
}

// An endpoint that accepts a connection and sends nothing has some time; then the delivery is retried.
func TestEndpointThatHangs(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	h := local(t)
	h.timeout = 50 * time.Millisecond
	if err := h.Send(t.Context(), &Target{Endpoint: url}, &Message{
		Note: note,
	}); !errors.Is(err, errNoAnswer) || IsPermanent(err) {
		t.Error(err)
	}
}
