package queue

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
)

// censusOf counts the messages of a queue in some states, in calls of a few steps, and returns the numbers by value.
func (r *rig) censusOf(id ID, states States, key, filter string, steps int) (map[string]uint64, CensusResult) {
	r.t.Helper()
	var all CensusResult
	c := Census{States: states, Key: key, Filter: filter}
	for more := true; more; {
		left := steps
		page, err := r.look(id).Census(r.store, &c, func(int) bool { left--; return left > 0 })
		if err != nil || page.More && page.Next == c.After {
			r.t.Fatalf("a census by %s: %v, then %+v", key, err, page.Next)
		}
		all.Add(page)
		more, c.After = page.More, page.Next
	}
	got := make(map[string]uint64)
	for _, share := range all.Shares {
		got[share.Value] += share.Messages
	}
	return got, all
}

// checkCensus fails the test unless a census counts the messages that a peek has found.
func (r *rig) checkCensus(id ID, states States, peeked []Peeked) {
	r.t.Helper()
	want := make(map[string]uint64)
	for _, m := range peeked {
		want[fmt.Sprint(m.PriorReceives+m.Receives)]++
	}
	got, all := r.censusOf(id, states, "count", "", 3)
	if !maps.Equal(got, want) || all.Scanned != uint64(len(peeked)) || all.Found != all.Scanned {
		r.t.Fatalf("queue %d, states %d: a census finds %v of %d, want %v", id, states, got, all.Scanned, want)
	}
}

// sendBodies creates a queue and sends messages with these bodies.
func (r *rig) sendBodies(bodies ...string) {
	r.t.Helper()
	r.configure(Config{ID: 1, ARN: "q", Visibility: time.Minute, Retention: time.Hour})
	if err := r.do(func(e *Engine) error {
		for _, body := range bodies {
			if _, err := e.Send(1, []Outgoing{{Body: body}}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		r.t.Fatalf("send: %v", err)
	}
}

// A share has the terms of a filter that select its messages, and no others.
func TestCensusTerms(t *testing.T) {
	r := newRig(t)
	defer r.close()
	r.sendBodies(`{"error": "timeout"}`, `{"error": "time out"}`, `{"error": "timeout"}`, `{}`, `text`,
		`{"error": {"code": 1}}`,
		`{"error": "`+strings.Repeat("x", 300)+`"}`)
	_, all := r.censusOf(1, AllStates, "body.error", "", 100)
	if len(all.Shares) != 5 || all.Found != 7 || all.Scanned != 7 {
		t.Fatalf("the shares are %+v", all)
	}
	for _, share := range all.Shares {
		if (share.Term == "") != share.Cut || share.Unreadable || share.Newest != r.now {
			t.Errorf("a share is %+v", share)
		}
		if share.Cut {
			continue
		}
		page, err := r.look(1).Peek(r.store, &Peek{States: AllStates, Max: 100, Filter: share.Term},
			func(int) bool { return true })
		if err != nil || uint64(len(page.Messages)) != share.Messages {
			t.Errorf("%s selects %d messages of %d, %v", share.Term, len(page.Messages), share.Messages, err)
		}
	}
	if got, part := r.censusOf(1, AllStates, "body.error", "timeout", 2); got["timeout"] != 2 || part.Found != 2 ||
		part.Scanned != 7 {
		t.Errorf("with a filter the shares are %v, %+v", got, part)
	}
}

// Messages that cannot be decrypted have their own share, because their values are unknown.
func TestCensusOfUnreadable(t *testing.T) {
	r := newRig(t)
	defer r.close()
	r.sendBodies(`{"error": "timeout"}`)
	if err := r.do(func(e *Engine) error {
		_, err := e.Send(1, []Outgoing{secret(1, 7)})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_, all := r.censusOf(1, AllStates, "body.error", "", 100)
	if len(all.Shares) != 2 || !all.Shares[1].Unreadable || all.Shares[1].Term != "" || all.Shares[1].Messages != 1 {
		t.Errorf("the shares are %+v", all.Shares)
	}
	if got, _ := r.censusOf(1, AllStates, "count", "", 100); got["0"] != 2 {
		t.Errorf("by receives the shares are %v", got)
	}
}

// A call finds a bounded number of values, and the next call continues behind them.
func TestCensusIsBounded(t *testing.T) {
	r := newRig(t)
	defer r.close()
	bodies := make([]string, censusShares+5)
	for i := range bodies {
		bodies[i] = fmt.Sprintf(`{"id": %d}`, i)
	}
	r.sendBodies(bodies...)
	c := Census{States: AllStates, Key: "body.id"}
	page, err := r.look(1).Census(r.store, &c, func(int) bool { return true })
	if err != nil || len(page.Shares) != censusShares || !page.More {
		t.Fatalf("%d values, more %v, %v", len(page.Shares), page.More, err)
	}
	c.After = page.Next
	rest, err := r.look(1).Census(r.store, &c, func(int) bool { return true })
	if err != nil || len(rest.Shares) != 5 || rest.More {
		t.Errorf("then %d values, more %v, %v", len(rest.Shares), rest.More, err)
	}
	for _, bad := range []Census{{Key: "id"}, {Key: "count", Filter: "x:1"}} {
		if _, err := r.look(1).Census(r.store, &bad, func(int) bool { return true }); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
