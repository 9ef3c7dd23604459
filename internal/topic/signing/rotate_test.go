package signing_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/topic/signing"
)

const day = 24 * time.Hour

// look makes a node check the keys at a time, and returns the certificate that messages then name.
func (f *fixture) look(t *testing.T, at time.Time) (certificate string) {
	t.Helper()
	r := signing.Rotation{
		Keys: f.keys, Control: f.control, Now: func() time.Time { return at }, Log: slog.New(slog.DiscardHandler),
	}
	for range 2 { // the second time nothing is left to do
		if err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := f.keys.Signer(signing.SHA256, "", at)
	if err != nil {
		t.Fatal(err)
	}
	id, ok := signing.IDOf(s.CertURL())
	if !ok || f.keys.Certificate(id) == nil {
		t.Fatalf("%s is not served", s.CertURL())
	}
	return id
}

// A key gets a successor after a year. The successor signs when all nodes have it, and the old certificate stays as
// long as a message may be under way.
func TestRotation(t *testing.T) {
	f := newFixture(t)
	f.ensure(t)
	first := f.look(t, now)
	if got := f.look(t, now.Add(365*day-time.Second)); got != first {
		t.Error("the key changes before its time")
	}
	made := now.Add(365 * day)
	if got := f.look(t, made); got != first {
		t.Error("a new key signs before all nodes can have it")
	}
	second := f.look(t, made.Add(10*time.Minute))
	if second == first {
		t.Fatal("the new key does not sign")
	}
	f.open(t) // the next owner of the control store continues
	if got := f.look(t, made.Add(30*day-time.Second)); got != second || f.keys.Certificate(first) == nil {
		t.Error("the old certificate is gone too early")
	}
	if got := f.look(t, made.Add(30*day)); got != second || f.keys.Certificate(first) != nil {
		t.Error("the old certificate is never removed")
	}
	if n, problems, err := signing.Check(f.store, f.vault); n != 1 || len(problems) > 0 || err != nil {
		t.Errorf("%d keys are left, %v, %v", n, problems, err)
	}
}

// No key is created without a topic, and a server that was stopped for years signs with no expired certificate.
func TestRotationLate(t *testing.T) {
	f := newFixture(t)
	r := signing.Rotation{
		Keys: f.keys, Control: f.control, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	}
	if err := r.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held, err := signing.Held(f.store); held || err != nil {
		t.Fatal(held, err)
	}
	f.ensure(t)
	first := f.look(t, now)
	if got := f.look(t, now.Add(3*365*day)); got == first {
		t.Error("an expired certificate signs")
	}
}
