package directory

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// unstored returns a directory without a store, to which changes are applied.
func unstored() *Directory {
	return &Directory{records: control.NewSet(control.SetOptions[records]{New: recordsOf(nil), Changed: changed})}
}

func (d *Directory) apply(tb testing.TB, key string, is any) {
	ch := control.Change{Key: key, Removed: is == nil}
	if is != nil {
		ch.Value = control.Encode(is)
	}
	if err := d.records.Apply([]control.Change{ch}); err != nil {
		tb.Fatal(err)
	}
}

// randomly puts or deletes an entity, a key and a policy of a few accounts.
func (d *Directory) randomly(tb testing.TB, rng *rand.Rand) {
	account := fmt.Sprint("account", rng.IntN(3))
	kind := []Kind{User, Group, Role, Profile}[rng.IntN(4)]
	e := &Entity{
		Kind: kind, Account: account, ID: fmt.Sprint(account, kind, rng.IntN(9)),
		Name: fmt.Sprint("name", rng.IntN(1000)),
	}
	for i := range rng.IntN(4) {
		e.Attached = append(e.Attached, "arn:aws:iam::aws:policy/p"+fmt.Sprint(i))
		e.Groups = append(e.Groups, fmt.Sprint(account, Group, rng.IntN(9)))
		e.Roles = append(e.Roles, fmt.Sprint(account, Role, rng.IntN(9)))
		e.Boundary = e.Attached[0]
	}
	k := &Key{ID: fmt.Sprint("k", rng.IntN(40)), User: e.ID, Created: time.Unix(rng.Int64N(9), 0)}
	m := &Managed{Account: account, Name: fmt.Sprint("p", rng.IntN(9)), Path: "/"}
	if rng.IntN(3) == 0 {
		d.apply(tb, entityTable.KeyOf(e.ID), nil)
		d.apply(tb, keyTable.KeyOf(k.ID), nil)
		d.apply(tb, policyTable.KeyOf(m.ARN()), nil)
		return
	}
	d.apply(tb, entityTable.KeyOf(e.ID), e)
	d.apply(tb, keyTable.KeyOf(k.ID), k)
	d.apply(tb, policyTable.KeyOf(m.ARN()), m)
	d.apply(tb, aliasTable.KeyOf(account), fmt.Sprint(account, "-", rng.IntN(9)))
}

// where returns the entities for which keep returns true, sorted by name, as a scan of all entities finds them.
func (d *Directory) where(keep func(*Entity) bool) []*Entity {
	out := control.Where(d.records.RLock().entities, keep)
	d.records.RUnlock()
	slices.SortFunc(out, func(a, b *Entity) int { return cmp.Or(byName(a, b), byID(a, b)) })
	return out
}

// The lists have what a scan of all records finds, in its order.
func TestListsEqualScans(t *testing.T) {
	rng, d := rand.New(rand.NewPCG(1, 2)), unstored()
	for range 1000 {
		d.randomly(t, rng)
		account := fmt.Sprint("account", rng.IntN(4))
		group := &Entity{Kind: Group, Account: account, ID: fmt.Sprint(account, Group, rng.IntN(9))}
		role := &Entity{Kind: Role, Account: account, ID: fmt.Sprint(account, Role, rng.IntN(9))}
		arn := "arn:aws:iam::aws:policy/p" + fmt.Sprint(rng.IntN(3))
		attachedTo, bounding := d.Users(account, arn)
		equal(t, "Users: attached", attachedTo, d.where(func(e *Entity) bool {
			return e.Account == account && slices.Contains(e.Attached, arn)
		}))
		equal(t, "Users: bounded", bounding, d.where(func(e *Entity) bool {
			return e.Account == account && e.Boundary == arn
		}))
		equal(t, "Members", d.Members(group), d.where(func(e *Entity) bool { return slices.Contains(e.Groups, group.ID) }))
		equal(t, "ProfilesOf", d.ProfilesOf(role), d.where(func(e *Entity) bool {
			return slices.Contains(e.Roles, role.ID)
		}))
		for _, e := range d.List(User, account) {
			d.checkUser(t, e)
		}
		equal(t, "List", d.List(Group, account), d.where(func(e *Entity) bool {
			return e.Kind == Group && e.Account == account
		}))
		d.checkPolicies(t, account)
	}
}

func equal[T any](t *testing.T, what string, got, want []*T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s returns %d records, want %d", what, len(got), len(want))
	}
}

func (d *Directory) checkUser(t *testing.T, user *Entity) {
	t.Helper()
	r := d.records.RLock()
	keys := control.Where(r.keys, func(k *Key) bool { return k.User == user.ID })
	d.records.RUnlock()
	slices.SortFunc(keys, func(a, b *Key) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	equal(t, "Keys", d.Keys(user), keys)
	groups := slices.Compact(d.Groups(user))
	equal(t, "Groups", groups, d.where(func(e *Entity) bool { return slices.Contains(user.Groups, e.ID) }))
}

func (d *Directory) checkPolicies(t *testing.T, account string) {
	t.Helper()
	r := d.records.RLock()
	policies := control.Where(r.managed, func(m *Managed) bool { return m.Account == account })
	aliases := len(r.aliased)
	d.records.RUnlock()
	slices.SortFunc(policies, func(a, b *Managed) int { return cmp.Compare(a.Name, b.Name) })
	equal(t, "Policies", d.Policies(account), policies)
	if alias := d.Alias(account); alias != "" {
		if owner, ok := d.Aliased(alias); !ok || d.Alias(owner) != alias || aliases > 3 {
			t.Fatalf("%s has the alias %s, Aliased returns %q; %d aliases", account, alias, owner, aliases)
		}
	}
}

// mine is the account that lists its records; others have many more.
const mine = "500000000000"

func crowded(tb testing.TB, others, own int) *Directory {
	d := unstored()
	for i := range others + own {
		account := fmt.Sprintf("%012d", 100*i)
		if i >= others {
			account = mine
		}
		e := &Entity{
			Kind: User, Account: account, ID: fmt.Sprintf("AIDA%017d", i*7919%(others+own)), Path: "/",
			Name: fmt.Sprintf("user-%07d", i), Groups: []string{"AGPA" + account}, Attached: []string{builtin[0].ARN()},
		}
		d.apply(tb, entityTable.KeyOf(e.ID), e)
		k := &Key{ID: fmt.Sprintf("AKIA%016d", i), User: e.ID}
		d.apply(tb, keyTable.KeyOf(k.ID), k)
		m := &Managed{Account: account, Name: fmt.Sprintf("policy-%07d", i), Path: "/"}
		d.apply(tb, policyTable.KeyOf(m.ARN()), m)
	}
	return d
}

// A list compares the records that it returns and a few others, however many others there are.
func TestListsReadOnlyTheirAccount(t *testing.T) {
	const others, own = 5000, 5
	d, compared := crowded(t, others, own), 0
	r := d.records.Lock()
	real := r.order
	r.order.relations = counting(real.relations, relation{of: new(Entity)}, &compared, relation.compare)
	r.order.entities = counting(real.entities, new(Entity), &compared, byAccount)
	r.entities, r.keys, r.managed = nil, nil, nil // the lists do not need them
	d.records.Unlock()
	for what, list := range map[string]func() int{
		"List":     func() int { return len(d.List(User, mine)) },
		"Members":  func() int { return len(d.Members(&Entity{Account: mine, ID: "AGPA" + mine})) },
		"Users":    func() int { attachedTo, _ := d.Users(mine, builtin[0].ARN()); return len(attachedTo) },
		"Policies": func() int { return len(d.Policies(mine)) },
	} {
		compared = 0
		if n := list(); n != own || compared > 40 {
			t.Errorf("%s found %d records after %d comparisons", what, n, compared)
		}
	}
}

// counting returns a list that counts the comparisons of its elements.
func counting[T any](list *sortedlist.List[T], first T, n *int, order func(a, b T) int) *sortedlist.List[T] {
	copied := sortedlist.New(func(a, b T) int {
		*n++
		return order(a, b)
	})
	for x := range list.From(first) {
		copied.Put(x)
	}
	return copied
}

func BenchmarkUsersBesideMany(b *testing.B) {
	d := crowded(b, 100_000, 10)
	for b.Loop() {
		d.List(User, mine)
	}
}

// BenchmarkPolicyBesideMany finds the users of a policy that all accounts use.
func BenchmarkPolicyBesideMany(b *testing.B) {
	d := crowded(b, 100_000, 10)
	for b.Loop() {
		d.Users(mine, builtin[0].ARN())
	}
}

func BenchmarkKeysBesideMany(b *testing.B) {
	d := crowded(b, 100_000, 10)
	user := d.List(User, mine)[0]
	for b.Loop() {
		d.Keys(user)
	}
}

// BenchmarkRecord reports the memory of a user with a group, two policies and a key, and their places in the indexes.
func BenchmarkRecord(b *testing.B) {
	for b.Loop() {
		const users = 100_000
		before := heapInUse()
		d := crowded(b, users, 0)
		b.ReportMetric(float64(heapInUse()-before)/users, "B/user")
		runtime.KeepAlive(d)
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
