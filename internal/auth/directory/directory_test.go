package directory_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

const (
	account = "111122223333"
	allow   = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"*"}}`
)

var now = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// open returns an empty directory, and a function that opens it again.
func open(t *testing.T) (d *directory.Directory, again func() *directory.Directory) {
	t.Helper()
	s := storetest.Memory(t)
	v := identity.NewVault()
	again = func() *directory.Directory {
		d, err := directory.Open(control.New(control.Options{Store: s}), v)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return again(), again
}

func change(t *testing.T, d *directory.Directory, f func(tx *directory.Tx)) {
	t.Helper()
	if err := d.Change(t.Context(), func(tx *directory.Tx) error { f(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func user(name string) *directory.Entity {
	return directory.NewEntity(directory.User, account, "/", name, now)
}

func TestChangesAreKept(t *testing.T) {
	t.Parallel()
	d, again := open(t)
	bob, eve := user("bob"), user("eve")
	key, secret := d.NewKey(bob, now)
	change(t, d, func(tx *directory.Tx) {
		tx.PutEntity(bob)
		tx.PutEntity(eve)
		tx.PutKey(key)
		tx.SetAlias(account, "acme")
	})
	d.Used(key.ID, "sqs", "eu-west-1", now)
	d.Used(key.ID, "sqs", "eu-west-1", now.Add(time.Second)) // too soon to be recorded
	if err := d.SaveUses(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	renamed := bob.Clone()
	renamed.Name = "Rob"
	change(t, d, func(tx *directory.Tx) { tx.PutEntity(renamed); tx.DeleteEntity(eve) })
	for name, d := range map[string]*directory.Directory{"now": d, "opened again": again()} {
		if d.Find(directory.User, account, "bob") != nil || d.Find(directory.User, account, "ROB") == nil ||
			d.Entity(eve.ID) != nil {
			t.Errorf("%s: the names are wrong", name)
		}
		cred, ok := d.Lookup(key.ID)
		if !ok || cred.Secret != secret || cred.ARN != "arn:aws:iam::"+account+":user/Rob" || cred.UserID != bob.ID {
			t.Errorf("%s: the key is of %+v, %t", name, cred, ok)
		}
		if u, ok := d.Key(key.ID).LastUse(); !ok || !u.At.Equal(now) || u.Service != "sqs" || u.Region != "eu-west-1" {
			t.Errorf("%s: used %+v, %t", name, u, ok)
		}
		if owner, ok := d.Aliased("acme"); !ok || owner != account {
			t.Errorf("%s: the alias is %s's", name, owner)
		}
	}
	change(t, d, func(tx *directory.Tx) { tx.DeleteKey(key) })
	if _, ok := again().Lookup(key.ID); ok {
		t.Error("a deleted key exists")
	}
}

// A refused change changes nothing.
func TestRefusedChange(t *testing.T) {
	t.Parallel()
	d, again := open(t)
	refused := errors.New("no")
	err := d.Change(t.Context(), func(tx *directory.Tx) error { tx.PutEntity(user("bob")); return refused })
	if !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	for _, d := range []*directory.Directory{d, again()} {
		if d.Find(directory.User, account, "bob") != nil {
			t.Error("it was carried out")
		}
	}
}

// A principal has the permissions of the currently attached policies, not of those before the last change.
func TestPrincipals(t *testing.T) {
	t.Parallel()
	d, _ := open(t)
	bob := user("bob")
	group := directory.NewEntity(directory.Group, account, "/", "g", now)
	role := directory.NewEntity(directory.Role, account, "/", "r", now)
	role.Trust = `{"Statement":{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}}`
	change(t, d, func(tx *directory.Tx) { tx.PutEntity(bob); tx.PutEntity(group); tx.PutEntity(role) })
	v := identity.NewVault()
	resume := func(kind policy.CallerKind, name, issuer string) (identity.Identity, bool) {
		key, err := v.Issue(kind, account, name, &identity.Session{
			Issuer: "arn", IssuerID: issuer, Terms: identity.Terms{Policies: []string{allow}},
		})
		if err != nil {
			t.Fatal(err)
		}
		id, name, err := v.Redeem(key.AccessKeyID, key.Token)
		if err != nil {
			t.Fatal(err)
		}
		return d.Resume(id, name)
	}
	count := func(id identity.Identity) string {
		p, ok := d.Principal(id)
		return fmt.Sprint(len(p.Identity), len(p.Session), p.Boundary != nil, ok)
	}
	asUser, _ := resume(policy.User, "", bob.ID)
	asRole, _ := resume(policy.AssumedRole, "s1", role.ID)
	federated, _ := resume(policy.FederatedUser, "jean", bob.ID)
	ofRoot, _ := resume(policy.FederatedUser, "jean", account)
	want := func(what, user, role, fed, root string) {
		t.Helper()
		if got := []string{count(asUser), count(asRole), count(federated),
			count(ofRoot)}; fmt.Sprint(got) != fmt.Sprint([]string{user, role, fed, root}) {
			t.Errorf("%s: %v", what, got)
		}
	}
	want("nothing", "0 1 false true", "0 1 false true", "0 1 false true", "0 1 false true")
	bob2, group2, role2 := bob.Clone(), group.Clone(), role.Clone()
	bob2.Groups, bob2.Inline, bob2.Boundary = []string{group.ID}, map[string]string{"a": allow},
		"arn:aws:iam::aws:policy/AdministratorAccess"
	group2.Attached = []string{"arn:aws:iam::aws:policy/AmazonSQSFullAccess"}
	role2.Inline = map[string]string{"a": allow, "b": allow}
	change(t, d, func(tx *directory.Tx) { tx.PutEntity(bob2); tx.PutEntity(group2); tx.PutEntity(role2) })
	want("policies", "2 1 true true", "2 1 false true", "2 1 true true", "0 1 false true")
	bad := bob2.Clone()
	bad.Inline = map[string]string{"a": "{"}
	change(t, d, func(tx *directory.Tx) { tx.PutEntity(bad) })
	want("unreadable", "0 0 false false", "2 1 false true", "0 0 false false", "0 1 false true")
	change(t, d, func(tx *directory.Tx) { tx.DeleteEntity(bad); tx.DeleteEntity(role2) })
	for _, c := range []struct {
		kind   policy.CallerKind
		issuer string
	}{{policy.User, bob.ID}, {policy.AssumedRole, role.ID}, {policy.FederatedUser, bob.ID},
		{policy.AssumedRole, group.ID}, {policy.User, group.ID}} {
		if id, ok := resume(c.kind, "s", c.issuer); ok {
			t.Errorf("%+v acts for nobody", id)
		}
	}
	want("gone", "0 0 false false", "0 0 false false", "0 0 false false", "0 1 false true")
}

// The time of last use of each service is kept for a user or role until its deletion.
func TestUsesOfUsersAreKept(t *testing.T) {
	t.Parallel()
	d, again := open(t)
	bob := user("bob")
	d.Seen(bob.ID, "sqs", "eu-west-1", now) // there is no such user yet
	change(t, d, func(tx *directory.Tx) { tx.PutEntity(bob) })
	if u, ok := d.LastUse(bob); ok {
		t.Errorf("a new user was used: %+v", u)
	}
	d.Seen(bob.ID, "sqs", "eu-west-1", now)
	d.Seen(bob.ID, "iam", "us-east-1", now.Add(time.Minute))
	d.Seen(bob.ID, "sqs", "eu-west-1", now.Add(time.Second)) // too soon to be recorded
	if err := d.SaveUses(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	change(t, d, func(tx *directory.Tx) { renamed := bob.Clone(); renamed.Name = "rob"; tx.PutEntity(renamed) })
	for name, d := range map[string]*directory.Directory{"now": d, "opened again": again()} {
		u, ok := d.LastUse(bob)
		if !ok || !u.At.Equal(now.Add(time.Minute)) || u.Service != "iam" || !u.Services["sqs"].At.Equal(now) ||
			u.Services["sqs"].Region != "eu-west-1" || len(u.Services) != 2 {
			t.Errorf("%s: the use is %+v", name, u)
		}
	}
	change(t, d, func(tx *directory.Tx) { tx.DeleteEntity(bob) })
	change(t, d, func(tx *directory.Tx) { tx.PutEntity(bob) })
	for name, d := range map[string]*directory.Directory{"now": d, "opened again": again()} {
		if u, ok := d.LastUse(bob); ok {
			t.Errorf("%s: a deleted user was used: %+v", name, u)
		}
	}
}

// Entities of all kinds are found by their ARNs, including providers, whose names contain slashes.
func TestARNs(t *testing.T) {
	t.Parallel()
	d, _ := open(t)
	for kind, name := range map[directory.Kind]string{
		directory.User: "bob", directory.Role: "bob", directory.Profile: "bob",
		directory.Provider: "login.example.com/realms/a/",
	} {
		e := directory.NewEntity(kind, account, "/", name, now)
		change(t, d, func(tx *directory.Tx) { tx.PutEntity(e) })
		if got := d.ByARN("arn:aws:iam::" + account + ":" + string(kind) + "/" + name); got == nil || got.ID != e.ID {
			t.Errorf("%s: %+v", e.ARN(), got)
		}
		if _, is := d.ID(e.ARN()); is != (kind == directory.User || kind == directory.Role) {
			t.Errorf("%s: a principal: %t", e.ARN(), is)
		}
	}
}
