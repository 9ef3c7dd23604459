package login

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// The codes of RFC 6238, appendix B, of which six digits are used.
func TestCodesAreThoseOfTheRFC(t *testing.T) {
	seed := []byte("12345678901234567890")
	for at, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
		20000000000: "353130",
	} {
		if got := code(seed, stepOf(time.Unix(at, 0))); got != want {
			t.Errorf("at %d: %s, want %s", at, got, want)
		}
	}
}

func TestCodeCountsOnceAndSoon(t *testing.T) {
	seed, now := []byte("12345678901234567890"), time.Unix(1_800_000_000, 0)
	step := stepOf(now)
	for offset := int64(-3); offset <= 3; offset++ {
		got := match(seed, code(seed, step+offset), now, step-1)
		if want := step + offset; (offset == 0 || offset == 1) != (got == want) || got != 0 && got != want {
			t.Errorf("%d steps away: %d", offset, got-step)
		}
		two := matchTwo(seed, code(seed, step+offset), code(seed, step+offset+1), now)
		if near := offset >= -2 && offset <= 1; near != (two != 0) {
			t.Errorf("two codes, the first %d steps away: %d", offset, two)
		}
	}
	if matchTwo(seed, code(seed, step), code(seed, step), now) != 0 ||
		matchTwo(seed, code(seed, step+1), code(seed, step), now) != 0 {
		t.Error("two codes that are not consecutive")
	}
}

// A resynchronized authenticator keeps its own time.
func TestResync(t *testing.T) {
	l := open(t, Options{})
	for _, off := range []int64{-resyncDrift - 1, -resyncDrift, -3, 0, 3, resyncDrift + 1, resyncDrift + 2} {
		now := time.Unix(1_800_000_000, 0)
		d, seed := l.NewDevice("000000000000", "/", "phone", now)
		key := unsealed(t, seed)
		at := func(ago int64) string { return code(key, stepOf(now)+off-ago) }
		got, err := l.Resync(d, at(1), at(0), now)
		if near := off >= -resyncDrift && off <= resyncDrift+1; err != nil || near != (got != nil) {
			t.Errorf("%d steps off: %v %v", off, got, err)
		}
		if got == nil {
			continue
		}
		if accepted, _ := l.AcceptFrom(got, at(0), now); accepted != nil {
			t.Errorf("%d steps off: a code counts twice", off)
		}
		now = now.Add(time.Hour)
		if accepted, _ := l.AcceptFrom(got, at(0), now); accepted == nil || accepted.Drift != got.Drift {
			t.Errorf("%d steps off: a later code does not count", off)
		}
		if again, _ := l.Resync(got, at(0), at(1), now); again != nil {
			t.Errorf("%d steps off: codes in the wrong order", off)
		}
	}
}

// unsealed returns the bytes of a seed for authenticators.
func unsealed(t *testing.T, seed string) []byte {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(seed)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestPasswordsAreHashed(t *testing.T) {
	h, ctx := NewHasher(), context.Background()
	hash, err := h.Hash(ctx, "000000000000", "Correct-horse-1")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, "orrect") {
		t.Fatal(hash, err)
	}
	if again, _ := h.Hash(ctx, "000000000000", "Correct-horse-1"); again == hash {
		t.Error("there is no salt")
	}
	for password, want := range map[string]bool{
		"Correct-horse-1": true, "Correct-horse-2": false, "": false, "correct-horse-1": false,
	} {
		if right, err := h.Verify(ctx, "000000000000", hash, password); right != want || err != nil {
			t.Errorf("%q: %v, %v", password, right, err)
		}
	}
	if right, err := h.Verify(ctx, "", "", ""); right || err != nil {
		t.Errorf("no password: %v, %v", right, err)
	}
}

// A few are computed at a time, a few wait, and others are refused at once.
func TestHashersAreFew(t *testing.T) {
	h, release := NewHasher(), make(chan struct{})
	var mu sync.Mutex
	now, most, busy := 0, 0, 0
	var all, started sync.WaitGroup
	for i := range 100 {
		started.Add(1)
		all.Go(func() {
			started.Done()
			err := h.turn(context.Background(), fmt.Sprint(i), func() { // each of an account of its own
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				<-release
				mu.Lock()
				now--
				mu.Unlock()
			})
			if errors.Is(err, ErrBusy) {
				mu.Lock()
				if busy++; busy == 100-atOnce-mostWaiting {
					close(release)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if most > atOnce || busy != 100-atOnce-mostWaiting {
		t.Errorf("%d at a time, %d turned away", most, busy)
	}
}

// An account that floods the server with passwords leaves half of the places to others, whose turn comes next.
func TestHashersAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release := NewHasher(), make(chan struct{})
		var all sync.WaitGroup
		busy := 0
		var mu sync.Mutex
		for range 100 {
			all.Go(func() {
				if err := h.turn(t.Context(), "flood", func() { <-release }); errors.Is(err, ErrBusy) {
					mu.Lock()
					defer mu.Unlock()
					busy++
				}
			})
		}
		synctest.Wait()
		if want := 100 - (atOnce+mostWaiting)/2; busy != want {
			t.Errorf("%d of the flood are turned away, want %d", busy, want)
		}
		served := false
		all.Go(func() {
			if err := h.turn(t.Context(), "quiet", func() { served = true }); err != nil {
				t.Errorf("the other account: %v", err)
			}
		})
		synctest.Wait()
		release <- struct{}{}
		synctest.Wait()
		if !served {
			t.Error("the next place is not the other account's")
		}
		close(release)
		all.Wait()
		if h.all != 0 || len(h.accounts) != 0 {
			t.Errorf("%d are still there, of %v", h.all, h.accounts)
		}
	})
}

func TestRules(t *testing.T) {
	all := Rules{MinimumLength: 10, Symbols: true, Numbers: true, Uppercase: true, Lowercase: true}
	for _, c := range []struct {
		rules    Rules
		password string
		wrong    string
	}{
		{usual, "Abcdefg1", ""}, {usual, "abcdefg1", "three of"}, {usual, "Abcde-1", "length of 8"},
		{usual, strings.Repeat("Ab1", 43), "maximum"},
		{all, "Abcdefgh1-", ""}, {all, "Abcdefgh12", "symbol"}, {all, "Abcdefgh--", "number"},
		{all, "abcdefgh1-", "uppercase"}, {all, "ABCDEFGH1-", "lowercase"},
		{Rules{MinimumLength: 6}, "äöüäöü", ""},
	} {
		err := c.rules.Check(c.password)
		if (c.wrong == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: %v, want %q", c.password, err, c.wrong)
		}
	}
	for range 100 {
		if p := NewPassword(); usual.Check(p) != nil || all.Check(p) != nil {
			t.Errorf("a drawn password is refused: %q", p)
		}
	}
}

func TestEarlierPasswordsAreRemembered(t *testing.T) {
	l, now := open(t, Options{}), time.Unix(1_800_000_000, 0)
	hashes := make([]string, 3)
	for i := range hashes {
		hashes[i], _ = l.Hash(t.Context(), "000000000000", fmt.Sprint("Password-", i))
	}
	p := NewProfile("AIDA", hashes[0], false, now).WithPassword(hashes[1], now).WithPassword(hashes[2], now)
	for i, want := range []error{nil, ErrReused, ErrReused} {
		why, err := l.CheckNew(t.Context(), "000000000000", &Rules{MinimumLength: 6, Remembered: 2}, p,
			fmt.Sprint("Password-", i))
		if !errors.Is(why, want) || err != nil {
			t.Errorf("password %d: %v, %v", i, why, err)
		}
	}
}

func open(t *testing.T, o Options) *Logins {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open("control", store.Options{Disk: store.NewMemoryDisk(log), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	o.Control, o.Vault = control.New(control.Options{Store: st}), identity.NewVault()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRecordsAreKept(t *testing.T) {
	l, now := open(t, Options{}), time.Unix(1_800_000_000, 0)
	d, seed := l.NewDevice("000000000000", "/", "Phone", now)
	if raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(seed); err != nil ||
		len(raw) != SeedSize {
		t.Errorf("the seed is %s: %v", seed, err)
	}
	hash, _ := l.Hash(t.Context(), "000000000000", "Password-1")
	err := l.Change(t.Context(), func(tx *Tx) error {
		tx.PutProfile(NewProfile("AIDA", hash, true, now))
		tx.PutDevice(d)
		tx.SetRules("000000000000", &Rules{MinimumLength: 30})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(l.o)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Logins{l, again} {
		rules, set := l.Rules("000000000000")
		if p := l.Profile("AIDA"); p == nil || !p.Reset || !set || rules.MinimumLength != 30 ||
			l.Device("000000000000", d.Serial()) == nil {
			t.Errorf("profile %v, rules %v", p, rules)
		}
	}
	if passwords, devices, problems, err := Check(l.o.Control.Store(), l.o.Vault); passwords != 1 || devices != 1 ||
		len(problems) > 0 || err != nil {
		t.Errorf("%d passwords, %d devices, %v, %v", passwords, devices, problems, err)
	}
	if _, _, problems, _ := Check(l.o.Control.Store(), identity.NewVault()); len(problems) != 1 {
		t.Errorf("with another master key: %v", problems)
	}
	l = again // from here on this one makes the changes
	err = l.Change(t.Context(), func(tx *Tx) error {
		tx.DeleteProfile(l.Profile("AIDA"))
		tx.DeleteDevice(d)
		tx.SetRules("000000000000", nil)
		return nil
	})
	if _, set := l.Rules("000000000000"); err != nil || set || l.Profile("AIDA") != nil ||
		l.Device("000000000000", d.Serial()) != nil {
		t.Errorf("something is left: %v", err)
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add(decoy)
	f.Add("$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := parseHash(text); err == nil &&
			(p.memory > mostMemory || p.passes > mostPasses || p.passes == 0 || p.threads == 0) {
			t.Errorf("%q takes %+v", text, p)
		}
	})
}
