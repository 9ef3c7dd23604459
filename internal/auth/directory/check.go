package directory

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Counts is the number of records of each kind in a directory.
type Counts struct{ Users, Groups, Roles, Keys, Policies int }

// Check reads a directory without changing anything. It returns the numbers of its records and a list of
// inconsistencies. Without a vault it does not check the secrets. An error means that the store cannot be read.
func Check(s *store.Store, v *identity.Vault) (n Counts, problems []string, err error) {
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	r, err := control.Check(s, Prefix, recordsOf(nil), func(_ string, bad error) { want(false, "record %v", bad) })
	if err != nil {
		return n, problems, fmt.Errorf("check directory: %w", err)
	}
	for _, e := range slices.SortedFunc(maps.Values(r.entities), byName) {
		switch e.Kind {
		case User:
			n.Users++
		case Group:
			n.Groups++
		case Role:
			n.Roles++
		}
		arn := e.ARN()
		want(r.names[nameOf(e.Kind, e.Account, e.Name)] == e, "%s: another has the same name", arn)
		for _, id := range e.Groups {
			g := r.entities[id]
			want(
				g != nil && g.Kind == Group &&
					g.Account == e.Account, "%s is in a group %s that does not exist", arn, id,
			)
		}
		policies := e.Attached
		if e.Boundary != "" {
			policies = append(slices.Clone(policies), e.Boundary)
		}
		for _, policy := range policies {
			want(r.managed[policy] != nil, "%s has the policy %s, which does not exist", arn, policy)
		}
		want(r.loadPolicies(e).readable, "%s: a policy cannot be read; nothing is allowed until it is replaced", arn)
	}
	for _, k := range r.keys {
		n.Keys++
		if v != nil {
			_, bad := v.Open(k.ID, k.Sealed)
			want(bad == nil, "record %s: %v", keyTable.KeyOf(k.ID), bad)
		}
		user := r.entities[k.User]
		want(user != nil && user.Kind == User, "the access key %s belongs to %s, who does not exist", k.ID, k.User)
	}
	n.Policies = len(r.managed) - len(builtin)
	return n, problems, nil
}
