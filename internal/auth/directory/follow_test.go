package directory_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// follow returns an owner's directory and one that follows it.
func follow(t *testing.T) (owner, follower *directory.Directory, copied *control.Control) {
	t.Helper()
	var stores []*store.Store
	for range 2 {
		s := storetest.Memory(t)
		stores = append(stores, s)
	}
	mine := control.New(control.Options{Store: stores[0], Follow: true})
	copied = control.New(control.Options{Store: stores[1], Follow: true})
	mine.Own(func(tx *store.Txn) error {
		batch := tx.Bytes()
		return errors.Join(stores[0].Commit(tx), mine.Apply(batch), copied.Apply(batch))
	})
	v := identity.NewVault()
	var all []*directory.Directory
	for _, c := range []*control.Control{mine, copied} {
		d, err := directory.Open(c, v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all[0], all[1], copied
}

// A directory that follows another has the same entities and current policies, and forgets what the other forgets.
func TestFollower(t *testing.T) {
	t.Parallel()
	owner, follower, copied := follow(t)
	bob := user("bob")
	key, secret := owner.NewKey(bob, now)
	managed := &directory.Managed{
		Account: account, Name: "p", Path: "/", Default: "v1",
		Versions: []directory.Version{{ID: "v1", Document: allow}},
	}
	bob.Attached = []string{managed.ARN()}
	change(t, owner, func(tx *directory.Tx) {
		tx.PutEntity(bob)
		tx.PutKey(key)
		tx.PutPolicy(managed)
		tx.SetAlias(account, "acme")
	})
	policies := func(want int) {
		t.Helper()
		cred, ok := follower.Lookup(key.ID)
		p, readable := follower.Principal(cred.Identity)
		if !ok || !readable || cred.Secret != secret || len(p.Identity) != want {
			t.Errorf("the key is %v, %t; %d policies, %t", cred, ok, len(p.Identity), readable)
		}
	}
	policies(1)
	if follower.Alias(account) != "acme" || follower.Policy(managed.ARN()) == nil {
		t.Error("the alias or the policy is missing")
	}
	renamed := bob.Clone()
	renamed.Name, renamed.Inline = "rob", map[string]string{"own": allow}
	successor := user("bob") // who takes the name in the same change
	change(t, owner, func(tx *directory.Tx) { tx.PutEntity(successor); tx.PutEntity(renamed) })
	policies(2)
	if e := follower.Find(directory.User, account, "BOB"); e == nil || e.ID != successor.ID {
		t.Errorf("bob is %v", e)
	}
	if err := follower.Change(t.Context(), func(*directory.Tx) error { t.Error("asked"); return nil }); !errors.Is(err,
		control.ErrElsewhere) {
		t.Errorf("it makes a change of its own: %v", err)
	}
	change(t, owner, func(tx *directory.Tx) {
		tx.DeleteKey(key)
		tx.DeleteEntity(renamed)
		tx.DeletePolicy(managed)
		tx.SetAlias(account, "")
	})
	if _, ok := follower.Lookup(key.ID); ok || follower.Entity(bob.ID) != nil ||
		follower.Policy(managed.ARN()) != nil || follower.Alias(account) != "" {
		t.Error("the deleted entities remain")
	}
	empty, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if err := copied.Reload(empty); err != nil || follower.Entity(successor.ID) != nil {
		t.Errorf("after the store was replaced: %v", err)
	}
}

// When several nodes have recorded uses, the latest counts, and none is lost on its way to the store.
func TestUsesOfSeveralNodes(t *testing.T) {
	t.Parallel()
	owner, follower, _ := follow(t)
	bob := user("bob")
	key, _ := owner.NewKey(bob, now)
	change(t, owner, func(tx *directory.Tx) { tx.PutEntity(bob); tx.PutKey(key) })
	want := func(d *directory.Directory, service string) {
		t.Helper()
		if u, _ := d.Key(key.ID).LastUse(); u.Service != service {
			t.Errorf("used for %q, want %q", u.Service, service)
		}
	}
	follower.Used(key.ID, "sts", "eu-west-1", now.Add(time.Hour))
	owner.Used(key.ID, "iam", "eu-west-1", now)
	lost := errors.New("lost")
	if err := follower.SaveUses(t.Context(),
		func(context.Context, directory.Uses) error { return lost }); !errors.Is(err, lost) {
		t.Errorf("when it is lost on the way: %v", err)
	}
	if err := owner.SaveUses(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want(owner, "iam")
	want(follower, "sts") // later than the follower's record
	sent := 0
	send := func(_ context.Context, uses directory.Uses) error {
		sent++
		owner.NoteUses(uses)
		uses["AKIANOBODY"] = directory.Use{At: now}
		owner.NoteUses(uses) // of a key that was deleted meanwhile
		return nil
	}
	if err := follower.SaveUses(t.Context(), send); err != nil {
		t.Fatal(err)
	}
	want(owner, "sts")
	if err := owner.SaveUses(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	// A change of the key loses no uses.
	off := key.Clone()
	off.Active = false
	change(t, owner, func(tx *directory.Tx) { tx.PutKey(off) })
	want(owner, "sts")
	want(follower, "sts")
	if err := follower.SaveUses(t.Context(), send); err != nil || sent != 1 {
		t.Errorf("it was sent %d times, %v", sent, err)
	}
}

// However many keys were used, no change and no message has more than 500 uses.
func TestUsesAreSavedInParts(t *testing.T) {
	t.Parallel()
	owner, follower, _ := follow(t)
	bob := user("bob")
	change(t, owner, func(tx *directory.Tx) {
		tx.PutEntity(bob)
		for range 2500 {
			key, _ := owner.NewKey(bob, now)
			tx.PutKey(key)
		}
	})
	var sent []int
	send := func(_ context.Context, uses directory.Uses) error {
		sent = append(sent, len(uses))
		owner.NoteUses(uses)
		return nil
	}
	for _, key := range follower.Keys(bob) {
		follower.Used(key.ID, "sqs", "eu-west-1", now)
	}
	if err := follower.SaveUses(t.Context(), send); err != nil || !slices.Equal(sent, []int{500, 500, 500, 500, 500}) {
		t.Errorf("parts of %v uses, %v", sent, err)
	}
	if err := owner.SaveUses(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := owner.SaveUses(t.Context(), send); err != nil || len(sent) != 5 {
		t.Errorf("%d parts, %v", len(sent), err)
	}
}
