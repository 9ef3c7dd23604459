package directory

import (
	"fmt"
	"slices"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Counts is how much of each there is in a directory.
type Counts struct{ Users, Groups, Roles, Keys, Policies int }

// Check reads a directory without changing anything, and returns what is in it
// and what is not as it should be. Without a vault the secrets are not looked at.
// An error says that it could not be read.
func Check(s *store.Store, v *identity.Vault) (n Counts, problems []string, err error) {
	d := &Directory{records: newRecords()}
	var secrets opener
	if v != nil {
		secrets = v
	}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	err = control.Records(s, Prefix, func(k string, value []byte) bool {
		bad := d.put(k, value, secrets, new(records))
		want(bad == nil, "record %v", bad)
		return true
	})
	if err != nil {
		return n, problems, fmt.Errorf("check directory: %w", err)
	}
	everyone := d.list(func(*Entity) bool { return true })
	for _, e := range everyone {
		switch e.Kind {
		case User:
			n.Users++
		case Group:
			n.Groups++
		case Role:
			n.Roles++
		}
		arn := e.ARN()
		want(d.Find(e.Kind, e.Account, e.Name) == e, "%s: another has the same name", arn)
		for _, id := range e.Groups {
			g := d.entities[id]
			want(g != nil && g.Kind == Group && g.Account == e.Account, "%s is in a group %s that does not exist", arn, id)
		}
		policies := e.Attached
		if e.Boundary != "" {
			policies = append(slices.Clone(policies), e.Boundary)
		}
		for _, policy := range policies {
			want(d.managed[policy] != nil, "%s has the policy %s, which does not exist", arn, policy)
		}
		want(d.loadPolicies(e).readable, "%s: a policy cannot be read; nothing is allowed until it is replaced", arn)
	}
	for _, k := range d.keys {
		n.Keys++
		user := d.entities[k.User]
		want(user != nil && user.Kind == User, "the access key %s belongs to %s, who does not exist", k.ID, k.User)
	}
	n.Policies = len(d.managed) - len(builtin)
	return n, problems, nil
}
