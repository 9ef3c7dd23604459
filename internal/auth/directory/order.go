package directory

import (
	"cmp"
	"iter"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// order has records in the orders in which requests read them, so that no account pays for the records of others.
type order struct {
	entities  *sortedlist.List[*Entity] // by account, kind and name
	relations *sortedlist.List[relation]
	keys      *sortedlist.List[*Key]     // by user, the oldest first
	policies  *sortedlist.List[*Managed] // by account and name
}

// relation is what an entity has: a group, a role or a managed policy.
type relation struct {
	as relative
	to string // the id of the group or role, or the ARN of the policy
	of *Entity
}

type relative int

const (
	member   relative = iota // of a group
	holder                   // an instance profile, of a role
	attached                 // of a managed policy
	bounded                  // by a managed policy
)

func newOrder() order {
	return order{
		entities:  sortedlist.New(byAccount),
		relations: sortedlist.New(relation.compare),
		keys: sortedlist.New(func(a, b *Key) int {
			return cmp.Or(cmp.Compare(a.User, b.User), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
		}),
		policies: sortedlist.New(func(a, b *Managed) int {
			return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
		}),
	}
}

func byAccount(a, b *Entity) int {
	return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Kind, b.Kind), byName(a, b), byID(a, b))
}

// compare orders relations by what the entities have, then by account and name.
func (r relation) compare(o relation) int {
	return cmp.Or(
		cmp.Compare(r.as, o.as), cmp.Compare(r.to, o.to), cmp.Compare(r.of.Account, o.of.Account), byName(r.of, o.of),
		byID(r.of, o.of),
	)
}

func byName(a, b *Entity) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

func byID(a, b *Entity) int { return strings.Compare(a.ID, b.ID) }

// put keeps an entity in its places.
func (o *order) put(_ string, old, is *Entity) error {
	if old != nil {
		o.entities.Delete(old)
		for r := range old.relations() {
			o.relations.Delete(r)
		}
	}
	if is != nil {
		o.entities.Put(is)
		for r := range is.relations() {
			o.relations.Put(r)
		}
	}
	return nil
}

// relations yields what an entity has.
func (e *Entity) relations() iter.Seq[relation] {
	has := [...][]string{member: e.Groups, holder: e.Roles, attached: e.Attached, bounded: {e.Boundary}}
	return func(yield func(relation) bool) {
		for as, all := range has {
			for _, to := range all {
				if to != "" && !yield(relation{relative(as), to, e}) {
					return
				}
			}
		}
	}
}

// related returns the entities of an account that have something, sorted by name.
func (d *Directory) related(account string, as relative, to string) (out []*Entity) {
	r := d.records.RLock()
	defer d.records.RUnlock()
	for one := range r.order.relations.Range(relation{as, to, &Entity{Account: account}}, func(one relation) bool {
		return one.as == as && one.to == to && one.of.Account == account
	}) {
		out = append(out, one.of)
	}
	return out
}
