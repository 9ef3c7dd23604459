package jetstream

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// sight is a step of a test of sightings: at a time, the lease "s" is observed.
type sight struct {
	at  time.Duration
	see func(s *sightings, at time.Time)
}

// leaseMessage returns a holder's n-th message, which is valid for two seconds. An older program's message has no
// number.
func leaseMessage(holder string, n int) *nats.Msg {
	m := nats.NewMsg("leases.s")
	m.Header.Set(holderHeader, holder)
	if n > 0 {
		m.Header.Set(renewalHeader, fmt.Sprint(n))
		m.Header.Set(lengthHeader, "2000")
	}
	m.Data = []byte(holder)
	return m
}

func hears(holder string, n int) func(*sightings, time.Time) {
	return func(s *sightings, at time.Time) { s.hear("s", leaseMessage(holder, n), at) }
}

func reads(sequence uint64, holder string, n int) func(*sightings, time.Time) {
	return func(s *sightings, at time.Time) {
		s.read(map[string]sighting{"s": sightingOf(sequence, leaseMessage(holder, n))}, s.begin(), at)
	}
}

// sessionMessage returns a session's n-th message, which is valid for two seconds and renews the named leases.
func sessionMessage(n int, holder string, names ...string) *nats.Msg {
	m := leaseMessage(holder, n)
	m.Data, _ = json.Marshal(names)
	if holder == endedHolder {
		m.Header.Del(lengthHeader)
	}
	return m
}

// readsSession reads the message of a session at a sequence, unless that is 0, and at 7 that of its lease "s". The
// message that has ended a session has ended that of the holder "a".
func readsSession(sequence uint64, n int, holder string, names ...string) func(*sightings, time.Time) {
	return func(s *sightings, at time.Time) {
		session := holder
		if holder == endedHolder {
			session = "a"
		}
		m := nats.NewMsg("leases.s")
		m.Header.Set(holderHeader, "h")
		m.Header.Set(renewalHeader, "1")
		m.Header.Set(sessionHeader, session)
		m.Data = []byte("h")
		all := map[string]sighting{"s": sightingOf(7, m)}
		if sequence > 0 {
			all[sessionPrefix+session] = sightingOf(sequence, sessionMessage(n, holder, names...))
		}
		s.read(all, s.begin(), at)
	}
}

func hearsSession(n int, holder string, names ...string) func(*sightings, time.Time) {
	return func(s *sightings, at time.Time) {
		s.hear(sessionPrefix+holder, sessionMessage(n, holder, names...), at)
	}
}

func ends(session string) func(*sightings, time.Time) {
	return func(s *sightings, _ time.Time) { s.ended(session, 9) }
}

func readsNothing(s *sightings, at time.Time) { s.read(make(map[string]sighting), s.begin(), at) }

func expires(s *sightings, _ time.Time) { s.expire() }

func releases(s *sightings, _ time.Time) { s.released("s") }

// A lease is held for the time in its message, from when that was seen, and for as long as the message is renewed.
func TestSightings(t *testing.T) {
	const second = time.Second
	for what, c := range map[string]struct {
		seen  []sight
		now   time.Duration
		state string // held and fresh by the list; which message a take may replace; or that it may not
	}{
		"nothing":        {nil, 0, "may take none"},
		"read":           {[]sight{{0, reads(7, "a", 1)}}, 2*second - 1, "held fresh may take none"},
		"read, and over": {[]sight{{0, reads(7, "a", 1)}}, 2 * second, "may take 7"},
		"read again": {[]sight{{0, reads(7, "a", 1)}, {second, reads(7, "a", 1)}}, 2 * second,
			"may take 7"},
		"read, and renewed": {[]sight{{0, reads(7, "a", 1)}, {second, reads(8, "a", 2)}}, 2 * second,
			"held fresh may take none"},
		"renewed, and over": {[]sight{{0, reads(7, "a", 1)}, {second, reads(8, "a", 2)}}, 3 * second,
			"may take 8"},
		"heard before it is read": {[]sight{{0, hears("a", 1)}, {second, reads(7, "a", 1)}}, 2 * second, "may take 7"},
		"heard something else": {[]sight{{0, hears("a", 1)}, {second, reads(7, "a", 2)}}, 2 * second,
			"held fresh may take none"},
		// which is refused if it was stored
		"heard after it was read": {[]sight{{0, reads(7, "a", 1)}, {second, hears("a", 2)}}, 2 * second,
			"held fresh may take 7"},
		"heard of another": {[]sight{{0, reads(7, "a", 1)}, {second, hears("b", 1)}}, second,
			"held may take none"},
		"gone too early": {[]sight{{0, reads(7, "a", 1)}, {second, readsNothing}}, 2*second - 1,
			"held fresh may not take"},
		"gone, heard since": {[]sight{{0, reads(7, "a", 1)}, {second, hears("a", 2)}, {second, readsNothing}},
			2 * second, "held fresh may not take"},
		"gone, and over": {[]sight{{0, reads(7, "a", 1)}, {second, readsNothing}}, 2 * second,
			"may take none"},
		"given back elsewhere": {[]sight{{0, reads(7, "a", 1)}, {1, expires}, {2, readsNothing}}, 3,
			"fresh may take none"},
		"given back here": {[]sight{{0, reads(7, "a", 1)}, {1, releases}, {2, readsNothing}}, 3,
			"fresh may take none"},
		"another was given back": {[]sight{{0, reads(7, "a", 1)}, {1, expires}, {2, reads(7, "a", 1)}}, 3,
			"held fresh may take none"},
		"of an older program":  {[]sight{{0, reads(7, "a", 0)}}, time.Hour, "held may take none"},
		"older, and forgotten": {[]sight{{0, reads(7, "a", 0)}, {1, readsNothing}}, 2, "fresh may take none"},
		"of a session": {[]sight{{0, readsSession(5, 1, "a", "s")}}, 2*second - 1,
			"held fresh may take none"},
		"of this process": {[]sight{{0, readsSession(5, 1, "own", "s")}}, second, "held fresh may take 7"},
		"session over": {[]sight{{0, readsSession(5, 1, "a", "s")}}, 2 * second,
			"may take 7 after the end of a at 5"},
		"session renewed": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, readsSession(8, 2, "a", "s")}},
			2 * second, "held fresh may take none"},
		"renewed, and over again": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, readsSession(8, 2, "a", "s")}},
			3 * second, "may take 7 after the end of a at 8"},
		"session heard": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, hearsSession(2, "a", "s")}},
			2 * second, "held fresh may take none"},
		// which is refused if it was stored
		"session heard, and over": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, hearsSession(2, "a", "s")}},
			3 * second, "may take 7 after the end of a at 5"},
		"session of more": {[]sight{{0, readsSession(5, 1, "a", "r", "s")}}, second,
			"held fresh may take none"},
		"left out": {[]sight{{0, readsSession(8, 2, "a", "r")}}, second, "may take 7"},
		"heard to be left out": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, hearsSession(2, "a", "r")}},
			second, "held may take none"},
		"session ended elsewhere": {[]sight{{0, readsSession(9, 1, endedHolder)}}, second, "may take 7"},
		"session ended here": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, ends("a")}}, second,
			"may take 7"},
		"session forgotten": {[]sight{{0, readsSession(0, 1, "a", "s")}}, second,
			"may take 7 after the end of a at 0"},
		"session gone too early": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, readsSession(0, 1, "a", "s")}},
			2*second - 1, "held fresh may take none"},
		"left out, session gone": {[]sight{{0, readsSession(5, 1, "a", "r")}, {second, readsSession(0, 1, "a")}},
			2*second - 1, "held fresh may take none"},
		"both gone too early": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, readsNothing}}, 2*second - 1,
			"held fresh may not take"},
		"both gone, and over": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, readsNothing}}, 2 * second,
			"may take 0 after the end of a at 0"},
		"given back by a session": {[]sight{{0, readsSession(5, 1, "a", "s")}, {1, expires}, {2, readsNothing}}, 3,
			"fresh may take none"},
		"gone, and session heard": {[]sight{{0, readsSession(5, 1, "a", "s")}, {second, hearsSession(2, "a", "s")},
			{second, readsNothing}}, 2 * second, "held fresh may not take"},
		"not read for long": {[]sight{{0, reads(7, "a", 1)}, {5 * second, hears("a", 4)}}, 6 * second,
			"held may take 7"},
	} {
		began := time.Now()
		s := newSightings()
		for _, step := range c.seen {
			step.see(s, began.Add(step.at))
		}
		now := began.Add(c.now)
		var state []string
		list, fresh := s.list(now)
		if list["s"] != nil {
			state = append(state, "held")
		}
		if fresh {
			state = append(state, "fresh")
		}
		switch sequence, of, counts := s.lapsed("s", "own", now); {
		case counts:
			state = append(state, "may not take")
		case of != nil:
			state = append(state,
				fmt.Sprintf("may take %d after the end of %s at %d", sequence, of.session, of.sequence))
		case sequence == 0:
			state = append(state, "may take none")
		default:
			state = append(state, fmt.Sprint("may take ", sequence))
		}
		if got := strings.Join(state, " "); got != c.state {
			t.Errorf("%s: %s, not %s", what, got, c.state)
		}
	}
}

// Renewals that arrive while the stream is read may be missing from the result.
func TestSightingsHearWhileReading(t *testing.T) {
	s := newSightings()
	begun := s.begin()
	s.hear("s", leaseMessage("a", 1), time.Now())
	s.read(make(map[string]sighting), begun, time.Now())
	if _, fresh := s.list(time.Now()); fresh {
		t.Error("the list does not read the stream")
	}
}

// Nodes may use different lengths of leases: each message has its holder's.
func TestLeasesOfDifferentLengths(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, nil)
	ctx := testContext(t)
	brief, err := c.conns[0].Leases(ctx, 300*time.Millisecond, 1)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.servers[0].Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	long, err := conn.Leases(ctx, time.Hour, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.conns[0].Leases(ctx, time.Second, 1); err != nil { // does not make the stream forget earlier
		t.Fatal(err)
	}
	if info, err := conn.info(ctx, long.stream); err != nil || info.Config.MaxAge != time.Hour {
		t.Errorf("the stream remembers for %v, %v", info.Config.MaxAge, err)
	}
	kept := taken(ctx, t, long, "long", "1")
	taken(ctx, t, brief, "brief", "2")
	for free := false; !free; { // which takes an hour if the stream forgets it
		held, err := long.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, is := held["brief"]
		free = !is
		if wait.For(ctx, 10*time.Millisecond) != nil {
			t.Fatal("an expired lease is not free")
		}
	}
	taken(ctx, t, long, "brief", "3") // it has expired
	held, err := brief.List(ctx)
	if names := keys(held); err != nil || !slices.Equal(names, []string{"brief", "long"}) {
		t.Errorf("held are %v, %v", names, err)
	}
	answered(ctx, t, "renew", func() error { return kept.Renew(ctx, []byte("4")) })
}

func keys(m map[string][]byte) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
