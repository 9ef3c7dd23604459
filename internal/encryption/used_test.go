package encryption

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// A retired key encrypts nothing more, is needed until nothing needs it, and is never forgotten.
func TestRetirement(t *testing.T) {
	t.Parallel()
	records, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = records.Close() }()
	c := control.New(control.Options{Store: records})
	formats := control.Formats{Ready: func(int) error { return nil }, Require: func(int) error { return nil }}
	u, err := OpenUsed(c, formats)
	if err != nil {
		t.Fatal(err)
	}
	check := func(encrypting, needed, all string) {
		t.Helper()
		for what, c := range map[string]struct {
			got  []string
			want string
		}{"encrypting": {u.Encrypting(), encrypting}, "needed": {u.IDs(), needed}, "all": {u.All(), all}} {
			if want := []rune(c.want); len(c.got) != len(want) ||
				!slices.EqualFunc(c.got, want, func(s string, r rune) bool { return s == string(r) }) {
				t.Errorf("%s are %v, want %s", what, c.got, c.want)
			}
		}
	}
	ctx, now := t.Context(), time.UnixMilli(1_800_000_000_000)
	if err := u.Add(ctx, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	check("ab", "ab", "ab")
	if _, err := u.Retire(ctx, "c", now); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("an unknown key: %v", err)
	}
	changed := u.Watch()
	for i := range 2 { // the second changes nothing
		r, err := u.Retire(ctx, "a", now.Add(time.Duration(i)*time.Hour))
		if err != nil || !r.Since.Equal(now) || !r.Checked.IsZero() || r.Gone {
			t.Errorf("%+v, %v", r, err)
		}
	}
	select {
	case <-changed:
	default:
		t.Error("no change was seen")
	}
	check("b", "ab", "ab")
	if r, err := u.Note(ctx, "a", 3, now); err != nil || r.Needed != 3 || r.Gone || !r.Checked.Equal(now) {
		t.Errorf("%+v, %v", r, err)
	}
	check("b", "ab", "ab")
	if r, err := u.Note(ctx, "a", 0, now); err != nil || !r.Gone {
		t.Errorf("%+v, %v", r, err)
	}
	check("b", "b", "ab")
	if r, err := u.Note(ctx, "a", 1, now); err != nil || !r.Gone {
		t.Errorf("an earlier search has found one: %+v, %v", r, err)
	}
	if r, err := u.Note(ctx, "b", 0, now); err != nil || r.Gone {
		t.Errorf("a key that is not retired: %+v, %v", r, err)
	}
	if again, err := OpenUsed(control.New(control.Options{Store: records}), formats); err != nil ||
		len(again.Retired()) != 1 || !again.Retired()[0].Gone {
		t.Errorf("read again: %v, %v", again.Retired(), err)
	}
}

// The stored forms of a message and of an edit name the key that they need.
func TestNeeds(t *testing.T) {
	t.Parallel()
	ring := keyring.New(time.Now())
	r := newRig(ring)
	message := r.encrypt(t, setting, text("confidential"))
	edit, err := r.EncryptEdit(setting, &queue.Edit{Body: new("confidential")})
	if err != nil {
		t.Fatal(err)
	}
	other := keyring.New(time.Now()).First().Short()
	for what, record := range map[string]string{"a message": message.Body, "an edit": *edit.Body} {
		for _, around := range []string{record, "before" + record + "after"} {
			if !Needs([]byte(around), ring.First().Short()) || Needs([]byte(around), other) {
				t.Errorf("%s does not show its key", what)
			}
		}
	}
}
