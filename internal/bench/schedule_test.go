package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestCallsAreDueAtEvenIntervals(t *testing.T) {
	began := time.Unix(1000, 0)
	s := newSchedule(&Config{Rate: 400, Batch: 10, Duration: 2 * time.Second}, began)
	if s.calls != 80 {
		t.Errorf("%d calls, want 80", s.calls)
	}
	for call, want := range map[int64]time.Duration{
		0: 0, 1: 25 * time.Millisecond, 40: time.Second, 79: 1975 * time.Millisecond,
	} {
		if got := s.at(call).Sub(began); got != want {
			t.Errorf("call %d is due after %s, want %s", call, got, want)
		}
	}
}

// A connection makes calls in order, each counted from its due time. Calls that no connection makes also count.
func TestEachDueCallCounts(t *testing.T) {
	began := time.Now().Add(-100 * time.Millisecond)
	s := newSchedule(&Config{Rate: 100, Batch: 1, Duration: 100 * time.Millisecond}, began)
	s.run(t.Context())
	for call := range int64(7) {
		if due, waited, ok := s.next(); !ok || waited || due != s.at(call) {
			t.Fatalf("call %d: due %s, want %s; waited %t, ok %t", call, due, s.at(call), waited, ok)
		}
	}
	var l latencies
	l.add(time.Millisecond)
	if unsent := s.addUnsent(&l, began.Add(time.Second)); unsent != 3 || l.n != 4 || l.max != 930*time.Millisecond {
		t.Errorf("%d unsent, %d counted, longest %s; want 3, 4, 930ms", unsent, l.n, l.max)
	}
	if c := l.call("", time.Second); c.Count != 1 || c.P90 < 900*time.Millisecond {
		t.Errorf("%+v: want one call made, and the times of the others", c)
	}
}

// Calls that are due while the server stalls include the stall.
func TestStallCountsForEachCall(t *testing.T) {
	const stall = 400 * time.Millisecond
	var once sync.Once
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".SendMessage") {
			once.Do(func() { time.Sleep(stall) })
		}
		fmt.Fprint(w, `{"QueueUrl":"http://fake/q"}`)
	}))
	defer endpoint.Close()
	r, err := Run(t.Context(), Config{
		Target:    Target{Endpoints: []string{endpoint.URL}, Region: "us-east-1", KeyID: "k", Secret: "s"},
		Producers: 1, Batch: 1, Size: 100, Groups: 1, Rate: 100, Duration: stall,
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	// One connection must make 40 calls, half of which were due before half of the stall was over.
	c := r.Calls[0]
	if c.Count+r.Unsent != 40 || c.P50 < stall/4 || r.Rate != 100 {
		t.Errorf("%d calls made, %d not; p50 %s", c.Count, r.Unsent, c.P50)
	}
	var out strings.Builder
	r.Print(&out)
	if want := "100 messages/s were due"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is missing in\n%s", want, out.String())
	}
}
