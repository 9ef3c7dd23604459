package session

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

const account = "000000000000"

type rig struct {
	*Sessions
	store *store.Store
	root  identity.Identity
}

func open(t testing.TB, o Options) *rig {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open("control", store.Options{Disk: store.NewMemoryDisk(log), Logger: log})
	must(err)
	t.Cleanup(func() { st.Close() })
	o.Control, o.Vault, o.Idle = control.New(control.Options{Store: st}), identity.NewVault(), time.Hour
	o.PasswordSince = func(string) (time.Time, bool) { return time.Time{}, false }
	o.Roots, err = identity.Generate([]string{account})
	must(err)
	o.Directory, err = directory.Open(o.Control, o.Vault)
	must(err)
	s, err := Open(o)
	must(err)
	root, _ := o.Roots.Root(account)
	return &rig{s, st, root.Identity}
}

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// After every sequence of events, a session is alive if and only if a simple model says so, and a reader that loads the
// records again agrees.
func TestSessionsAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := open(t, Options{})
		ctx, now := context.Background(), began
		type modelled struct{ until, used time.Time }
		links := make(map[string]time.Time)
		sessions := make(map[string]*modelled) // by token
		alive := func(m *modelled) bool { return m != nil && now.Before(m.until) && now.Sub(m.used) < time.Hour }
		draw := func(tokens []string) string { return rapid.SampledFrom(append(tokens, "none")).Draw(rt, "token") }
		var linkTokens, tokens []string
		rt.Repeat(map[string]func(*rapid.T){
			"link": func(rt *rapid.T) {
				g, err := GrantOf(r.root, now)
				token, expires, err2 := r.NewLink(ctx, g, now)
				if err != nil || err2 != nil || !expires.Equal(now.Add(LinksLast)) {
					rt.Fatal(err, err2, expires)
				}
				links[token], linkTokens = expires, append(linkTokens, token)
			},
			"redeem": func(rt *rapid.T) {
				link := draw(linkTokens)
				expires, there := links[link]
				token, n, err := r.Redeem(ctx, link, Arrival{Method: ByLink}, now)
				if good := there && now.Before(expires); good != (err == nil) || !good && !errors.Is(err, ErrNoLink) {
					rt.Fatalf("redeemed: %v, want %v", err, good)
				}
				delete(links, link)
				if err == nil {
					sessions[token], tokens = &modelled{n.Until, now}, append(tokens, token)
				}
			},
			"use": func(rt *rapid.T) {
				token := draw(tokens)
				_, s, err := r.Keys(ctx, hash(token), now)
				if alive(sessions[token]) != (err == nil) {
					rt.Fatalf("used: %v", err)
				}
				if err == nil {
					if sessions[token].used = now; s.Expires.After(now.Add(KeysLast)) ||
						s.Expires.After(sessions[token].until) {
						rt.Fatalf("the keys last until %s", s.Expires)
					}
				}
			},
			"end": func(rt *rapid.T) {
				token := draw(tokens)
				if err := r.End(ctx, hash(token), now); err != nil {
					rt.Fatal(err)
				}
				delete(sessions, token)
			},
			"wait": func(rt *rapid.T) {
				now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 9, 10, 59, 60, 300}).Draw(rt,
					"minutes")) * time.Minute)
			},
			"": func(rt *rapid.T) {
				if len(links) > MaxLinks || len(sessions) > MaxSessions {
					rt.Skip("the oldest make room")
				}
				again, err := Open(r.o)
				if err != nil {
					rt.Fatal(err)
				}
				if err := r.records.Register(); err != nil {
					rt.Fatal(err)
				}
				for _, token := range append(tokens, "none") {
					_, _, here := r.Find(token, now)
					_, _, there := again.Find(token, now)
					if want := alive(sessions[token]); here != want || there != want {
						rt.Fatalf("alive: %v, read again %v, want %v", here, there, want)
					}
				}
			},
		})
		if _, problems, err := Check(r.store); err != nil || len(problems) > 0 {
			rt.Fatal(problems, err)
		}
	})
}

func TestProofCountsOnce(t *testing.T) {
	r := open(t, Options{})
	ctx := context.Background()
	g, err := GrantOf(r.root, began)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(now time.Time) error {
		_, _, err := r.BeginOnce(ctx, g, "request", began.Add(5*time.Minute), Arrival{Method: ByKeys}, now)
		return err
	}
	if err := begin(began); err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{0, time.Minute, 5 * time.Minute} { // when its signature expires
		if err := begin(began.Add(later)); !errors.Is(err, ErrUsed) {
			t.Errorf("after %s: %v", later, err)
		}
	}
}

func TestOlderProgramsAreConsidered(t *testing.T) {
	behind := errors.New("a node is behind")
	required := 0
	ready := behind
	r := open(t, Options{Formats: control.Formats{
		Ready: func(int) error { return ready }, Require: func(int) error { required++; return nil },
	}})
	g, _ := GrantOf(r.root, began)
	if _, _, err := r.NewLink(t.Context(), g, began); !errors.Is(err, behind) || required != 0 {
		t.Errorf("%v, required %d times", err, required)
	}
	ready = nil
	for range 2 {
		if _, _, err := r.NewLink(t.Context(), g, began); err != nil || required != 1 {
			t.Errorf("%v, required %d times", err, required)
		}
	}
}

func TestKeysOfSessionsBeginNone(t *testing.T) {
	id := identity.Identity{Session: &identity.Session{Console: "x"}}
	if _, err := GrantOf(id, began); !errors.Is(err, ErrSessionKeys) {
		t.Error(err)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(sessions.KeyOf("x"), []byte(`{"ID":"x","Kind":1}`))
	f.Add(links.KeyOf("x"), []byte(`{}`))
	f.Add(proofs.KeyOf("x"), []byte(`{}`))
	f.Add(Prefix, []byte(`null`))
	f.Fuzz(func(_ *testing.T, k string, v []byte) {
		if _, kinds := newRecords(); kinds.Put(k, v) == nil {
			_ = kinds.Apply(control.Change{Key: k, Removed: true})
		}
	})
}

// A session of a role ends with the first of its limits.
func TestLimitsOfRoles(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, tc := range []struct{ session, signIn, want time.Duration }{
		{time.Hour, 0, time.Hour}, {24 * time.Hour, 0, Longest}, {24 * time.Hour, time.Hour, time.Hour},
		{time.Hour, 48 * time.Hour, time.Hour}, {24 * time.Hour, 48 * time.Hour, Longest},
	} {
		role := &directory.Entity{Kind: directory.Role, Account: account, MaxSession: tc.session, MaxSignIn: tc.signIn}
		if got := Federated(role, "ann", Federation{}, now).Until.Sub(now); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}
