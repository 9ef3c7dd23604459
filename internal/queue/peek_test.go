package queue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// peekAll regularly looks into every queue, some messages at a time, and fails the test unless it finds each message
// once, and in each state as many as the engine counts.
func (r *rig) peekAll() {
	r.t.Helper()
	if r.looks++; r.looks%4 != 0 {
		return
	}
	for _, cfg := range r.configs {
		if cfg.Elsewhere || r.engine.queues[cfg.ID] == nil {
			continue
		}
		for _, states := range []States{AllStates, StateVisible, StateInFlight, StateDelayed,
			StateInFlight | StateDelayed} {
			r.peekStates(cfg.ID, states)
		}
		r.checkOldest(cfg.ID)
		if cfg.FIFO {
			r.listGroups(cfg.ID)
		}
	}
}

func (r *rig) peekStates(id ID, states States) {
	r.t.Helper()
	look := r.look(id)
	var got Counts
	seen := make(map[Position]bool)
	p := Peek{States: states, Max: 3, Bodies: true}
	scanned := uint64(0)
	var all []Peeked
	for more := true; more; {
		page, err := look.Peek(r.store, &p, func(int) bool { return true })
		if err != nil {
			r.t.Fatalf("peek: %v", err)
		}
		if len(page.Messages) > p.Max || page.More && page.Next == p.After {
			r.t.Fatalf("a page of %d messages, then %+v", len(page.Messages), page.Next)
		}
		for _, m := range page.Messages {
			if seen[m.Position] || m.State&states == 0 {
				r.t.Fatalf("%v is seen twice or in state %d", m.Position, m.State)
			}
			seen[m.Position] = true
			switch m.State {
			case StateVisible:
				got.Visible++
			case StateInFlight:
				got.InFlight++
			case StateDelayed:
				got.Delayed++
			}
		}
		scanned += page.Scanned
		all = append(all, page.Messages...)
		more, p.After = page.More, page.Next
	}
	if states == AllStates {
		r.checkCensus(id, states, all)
	}
	want := r.engine.queues[id].counts()
	if states&StateVisible == 0 {
		want.Visible = 0
	}
	if states&StateInFlight == 0 {
		want.InFlight = 0
	}
	if states&StateDelayed == 0 {
		want.Delayed = 0
	}
	if got != want || scanned != uint64(len(seen)) {
		r.t.Fatalf("at %v: queue %d, states %d: a look finds %+v of %d, want %+v", r.now.Sub(epoch), id,
			states, got, scanned, want)
	}
}

// look starts a look into a queue in which nothing expires: expired messages are removed once a second, and count until
// then.
func (r *rig) look(id ID) Look {
	r.t.Helper()
	look, err := r.engine.Look(id)
	if err != nil {
		r.t.Fatalf("look: %v", err)
	}
	look.now, look.retention = max(look.now, r.now), never/2
	return look
}

// checkOldest fails the test unless a look finds the oldest message.
func (r *rig) checkOldest(id ID) {
	r.t.Helper()
	want := never
	for _, m := range r.stored(id) {
		want = min(want, m.SentAt)
	}
	if want == never {
		want = 0
	}
	if got, err := r.look(id).Oldest(r.store); err != nil || got != want {
		r.t.Fatalf("the oldest message of queue %d is of %v, not %v: %v", id, since(want), since(got), err)
	}
}

// listGroups fails the test unless a queue lists each of its groups once, in order, with all messages.
func (r *rig) listGroups(id ID) {
	r.t.Helper()
	want := make(map[string]uint64)
	for _, m := range r.stored(id) {
		want[m.Group]++
	}
	got := make(map[string]uint64)
	last := Position(0)
	g := Groups{Max: 2}
	for more := true; more; {
		page, err := r.look(id).Groups(r.store, g, func(int) bool { return true })
		if err != nil || len(page.Groups) > g.Max {
			r.t.Fatalf("a page of %d groups, %v", len(page.Groups), err)
		}
		for _, group := range page.Groups {
			if got[group.Name] != 0 || group.Head <= last {
				r.t.Fatalf("group %s is out of order or listed twice", group.Name)
			}
			got[group.Name], last = group.Depth, group.Head
		}
		more, g.After = page.More, page.Next
	}
	if !maps.Equal(got, want) {
		r.t.Fatalf("queue %d has the groups %v, want %v", id, got, want)
	}
}

func (c *command) state(e *Engine) error {
	id := c.id()
	s, err := e.State(id)
	if err != nil {
		return err
	}
	words := fmt.Sprintf("visible %d, in flight %d, delayed %d", s.Visible, s.InFlight, s.Delayed)
	if s.Receivable {
		words += ", receivable"
	}
	if s.OverLimit {
		words += ", over the limit"
	}
	if s.Limited != 0 {
		words += fmt.Sprintf(", limited by %b", s.Limited)
	}
	for _, at := range []struct {
		what string
		at   Instant
	}{{"next visible", s.NextVisible}, {"next delayed", s.NextDelayed}, {"last send", s.LastSend},
		{"last receive", s.LastReceive}} {
		if at.at != 0 {
			words += ", " + at.what + " " + since(at.at)
		}
	}
	c.s.print("%s, groups ready %d, blocked %d", words, s.ReadyGroups, s.BlockedGroups)
	return nil
}

func (c *command) groups(e *Engine) error {
	look, err := e.Look(c.id())
	if err != nil {
		return err
	}
	g := Groups{Max: 100}
	if v, ok := c.setting("max"); ok {
		g.Max = c.number(v)
	}
	for more := true; more; {
		page, err := look.Groups(e.tx, g, func(int) bool { return true })
		if err != nil {
			return err
		}
		words := []string{"groups"}
		for _, group := range page.Groups {
			word := fmt.Sprintf("%s(%d %s", group.Name, group.Depth, stateNames[group.State])
			if group.Until != 0 {
				word += " until " + since(group.Until)
			}
			if group.Receives > 0 {
				word += fmt.Sprintf(" receives %d", group.Receives)
			}
			words = append(words, word+")")
		}
		c.s.print("%s", strings.Join(words, " "))
		more, g.After = page.More, page.Next
	}
	return nil
}

func (c *command) peek(e *Engine) error {
	id := c.id()
	look, err := e.Look(id)
	if err != nil {
		return err
	}
	p := Peek{States: AllStates, Max: 100, Bodies: true}
	if v, ok := c.setting("max"); ok {
		p.Max = c.number(v)
	}
	if v, ok := c.setting("states"); ok {
		p.States = 0
		for _, name := range strings.Split(v, ",") {
			for state, word := range stateNames {
				if word == name {
					p.States |= state
				}
			}
		}
	}
	filter, _ := c.setting("filter")
	p.Filter = strings.ReplaceAll(filter, "_", " ")
	for more := true; more; {
		page, err := look.Peek(e.tx, &p, func(int) bool { return true })
		if err != nil {
			c.s.print("%v", err)
			return nil
		}
		words := []string{"found"}
		for _, m := range page.Messages {
			word := m.Body + "(" + stateNames[m.State]
			if m.Until != 0 {
				word += " until " + since(m.Until)
			}
			if m.Receives > 0 {
				word += fmt.Sprintf(" receives %d", m.Receives)
			}
			words = append(words, word+")")
		}
		c.s.print("%s, scanned %d", strings.Join(words, " "), page.Scanned)
		more, p.After = page.More, page.Next
	}
	return nil
}

var stateNames = map[States]string{StateVisible: "visible", StateInFlight: "inflight", StateDelayed: "delayed"}

// A peek that is stopped continues where it was, with or without results.
func TestPeekIsStopped(t *testing.T) {
	r := newRig(t)
	defer r.close()
	cfg := Config{ID: 1, ARN: "q", Visibility: time.Minute, Retention: time.Hour}
	r.configure(cfg)
	if err := r.do(func(e *Engine) error {
		for i := range 20 {
			o := Outgoing{
				Body: fmt.Sprint(i), Attributes: []Attribute{{Name: "n", Type: "Number", Value: fmt.Sprint(i)}},
			}
			if i%2 == 1 {
				o.Group = "g"
			}
			if _, err := e.Send(1, []Outgoing{o}); err != nil {
				return err
			}
		}
		_, err := e.Receive(1, Receive{Max: 6})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	look, err := r.engine.Look(1)
	if err != nil {
		t.Fatal(err)
	}
	p := Peek{States: AllStates, Filter: "attr.n>=10", Max: 100}
	var found []string
	calls, scanned := 0, uint64(0)
	for more := true; more; calls++ {
		page, err := look.Peek(r.store, &p, func(bytes int) bool { return bytes == 0 })
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Messages {
			found = append(found, m.Attributes[0].Value)
			if m.Body != "" || m.Size == 0 {
				t.Errorf("%+v", m)
			}
		}
		scanned += page.Scanned
		more, p.After = page.More, page.Next
	}
	if len(found) != 10 || scanned != 20 || calls != 21 {
		t.Errorf("found %v, scanned %d in %d calls", found, scanned, calls)
	}
	if _, err := look.Peek(r.store, &Peek{Filter: "count>"}, nil); err == nil {
		t.Error("an invalid filter is accepted")
	}
}

func FuzzPeekCursor(f *testing.F) {
	f.Add(PeekCursor{}.Encode())
	f.Add(PeekCursor{Shard: 3, place: place{phase: phaseDelayed, due: 1 << 40, position: 7 | indexedBit}}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, ok := DecodePeekCursor(b)
		if !ok {
			if c != (PeekCursor{}) {
				t.Errorf("%x is refused and returns %+v", b, c)
			}
			return
		}
		if again, ok := DecodePeekCursor(c.Encode()); !ok || again != c {
			t.Errorf("%+v is read as %+v", c, again)
		}
		r := newRig(t)
		defer r.close()
		r.configure(Config{ID: 1, ARN: "q", Retention: time.Hour})
		if err := r.do(func(e *Engine) error {
			_, err := e.Send(1, []Outgoing{{Body: "a"}, {Body: "b", Group: "g"}})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		look, err := r.engine.Look(1)
		if err != nil {
			t.Fatal(err)
		}
		for _, states := range []States{AllStates, StateDelayed} {
			if found, err := look.Peek(r.store, &Peek{States: states, After: c, Max: 10},
				func(int) bool { return true }); err != nil || len(found.Messages) > 2 {
				t.Errorf("a look after %+v: %+v, %v", c, found, err)
			}
		}
	})
}

func FuzzGroupsCursor(f *testing.F) {
	f.Add(GroupsCursor{{1, 5}, {2, 7 | indexedBit}}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, ok := DecodeGroupsCursor(b)
		if again, still := DecodeGroupsCursor(c.Encode()); ok && (!still || !slices.Equal(again, c)) {
			t.Errorf("%v is read as %v", c, again)
		}
	})
}
