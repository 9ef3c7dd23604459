package doctor_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	people "github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/doctor"
	"github.com/sluicemq/sluice/internal/store"
)

const everything = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`

// populate adds a group, a user in it, and the user's key.
func populate(t *testing.T, d doctor.Directory) {
	t.Helper()
	v, err := identity.CreateVault(d.MasterKey)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, d.Control)
	dir, err := people.Open(control.New(control.Options{Store: s}), v)
	if err != nil {
		t.Fatal(err)
	}
	group := people.NewEntity(people.Group, "000000000000", "/", "devs", time.Now())
	group.Attached = []string{"arn:aws:iam::aws:policy/AmazonSQSFullAccess"}
	user := people.NewEntity(people.User, "000000000000", "/", "bob", time.Now())
	user.Groups, user.Inline = []string{group.ID}, map[string]string{"all": everything}
	key, _ := dir.NewKey(user, time.Now())
	err = dir.Change(t.Context(), func(tx *people.Tx) error {
		tx.PutEntity(group)
		tx.PutEntity(user)
		tx.PutKey(key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func users(t *testing.T, d doctor.Directory) *doctor.Check {
	t.Helper()
	report, err := doctor.Examine(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Name == "users" {
			return c
		}
	}
	t.Fatal("users are not examined")
	return nil
}

func TestUsers(t *testing.T) {
	t.Parallel()
	d := directory(t)
	if c := users(t, d); len(c.Problems) != 0 {
		t.Errorf("without any: %v", c.Problems)
	}
	populate(t, d)
	c := users(t, d)
	counted := fmt.Sprint(c.Counts)
	if len(c.Problems) != 0 || counted != "[{users 1} {groups 1} {roles 0} {keys 1} {policies 0}]" {
		t.Fatalf("%+v", c)
	}
	master, err := os.ReadFile(d.MasterKey)
	if err != nil {
		t.Fatal(err)
	}
	set := func(k, v string) func() {
		return func() { edit(t, d.Control, func(_ *store.Store, tx *store.Txn) { tx.Set([]byte(k), []byte(v)) }) }
	}
	for want, spoil := range map[string]func(){
		"master key is missing": func() { _ = os.Remove(d.MasterKey) },
		"can be read by others": func() { _ = os.Chmod(d.MasterKey, 0o644) },
		"cannot be decrypted":   func() { _ = os.WriteFile(d.MasterKey, []byte(strings.Repeat("0", 64)), 0o600) },
		"invalid character":     set("directory/entity/AIDAX", "x"),
		"written by a newer":    set("directory/device/1", "{}"),
		"belongs to AIDAX":      set("directory/key/AKIAX", `{"ID":"AKIAX","User":"AIDAX"}`),
		"AGPAX that does not exist": set("directory/entity/AIDAY",
			`{"Kind":"user","Account":"000000000000","Path":"/","Name":"y","ID":"AIDAY","Groups":["AGPAX"]}`),
		"policy cannot be read": set("directory/entity/AIDAZ",
			`{"Kind":"user","Account":"000000000000","Path":"/","Name":"z","ID":"AIDAZ","Inline":{"p":"{"}}`),
		"which does not exist": set("directory/entity/AIDAW",
			`{"Kind":"user","Account":"000000000000","Path":"/","Name":"w","ID":"AIDAW","Attached":["arn:x"]}`),
		"another has the same name": set("directory/entity/AIDAV",
			`{"Kind":"user","Account":"000000000000","Path":"/","Name":"BOB","ID":"AIDAV"}`),
	} {
		spoil()
		if c := users(t, d); !strings.Contains(strings.Join(c.Problems, "\n"), want) {
			t.Errorf("%s: %v", want, c.Problems)
		}
		for _, err := range []error{os.WriteFile(d.MasterKey, master, 0o600), os.Chmod(d.MasterKey, 0o600)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A node of a cluster needs no master key, but if it has one, it must be the cluster's.
func TestUsersOfACluster(t *testing.T) {
	t.Parallel()
	d := directory(t)
	populate(t, d)
	v, err := identity.OpenVault(d.MasterKey)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, d.Control)
	roots, err := identity.LoadCredentials(d.Credentials, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = control.New(control.Options{Store: s}).Change(t.Context(),
		func(tx *control.Tx) error { return identity.Initialise(tx, v, roots, nil) })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	sound := func(when string) {
		t.Helper()
		report, err := doctor.Examine(t.Context(), d, nil)
		if err != nil || !report.Sound {
			t.Errorf("%s: %+v, %v", when, report, err)
		}
	}
	sound("with a master key")
	if err := os.Remove(d.MasterKey); err != nil {
		t.Fatal(err)
	}
	sound("without")
	if _, err := identity.CreateVault(d.MasterKey); err != nil {
		t.Fatal(err)
	}
	if c := users(t, d); !strings.Contains(strings.Join(c.Problems, "\n"), "not the master key of the cluster") {
		t.Errorf("with another cluster's: %v", c.Problems)
	}
	if err := os.Remove(d.MasterKey); err != nil {
		t.Fatal(err)
	}
	edit(t, d.Control,
		func(_ *store.Store, tx *store.Txn) { tx.Set([]byte("identity/root/000000000000"), []byte("{")) })
	if c := users(t, d); !strings.Contains(strings.Join(c.Problems, "\n"), "identity/root/000000000000") {
		t.Errorf("with a damaged record: %v", c.Problems)
	}
}
