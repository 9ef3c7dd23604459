package declared

const (
	filterPolicy = "FilterPolicy"
	filterScope  = "FilterPolicyScope"

	// closedFilter accepts nothing in either scope.
	closedFilter = `{"sluice:apply":["between two filters"]}`
)

// attribute is the change of one call.
type attribute struct{ name, value string }

// filterSteps returns the calls that change the filter of a subscription, a policy and its scope, to the values in
// attributes. Invariants:
//
//  1. SNS accepts each step: a nested policy never has the scope MessageAttributes.
//  2. Between two steps, no message passes that would pass neither before all of them nor after.
//
// A call changes one of the two, and a policy has a different meaning in another scope. Only a subscription without a
// policy passes the same messages in both: so the scope changes while there is none, before the new policy is set or
// after the old one is removed. If there is one before and after, the closed filter takes its place while the scope
// changes, and publications do not pass meanwhile. After an interruption at any step, the next apply continues from
// there.
func filterSteps(was Settings, attributes map[string]string) []attribute {
	policy, setsPolicy := attributes[filterPolicy]
	scope, setsScope := attributes[filterScope]
	setPolicy, setScope := attribute{filterPolicy, policy}, attribute{filterScope, scope}
	switch {
	case !setsPolicy && !setsScope:
		return nil
	case !setsScope:
		return []attribute{setPolicy}
	case !setsPolicy:
		return []attribute{setScope}
	case letsAllThrough(was["filter"]):
		return []attribute{setScope, setPolicy}
	case letsAllThrough(policy):
		return []attribute{setPolicy, setScope}
	}
	return []attribute{{filterPolicy, closedFilter}, setScope, setPolicy}
}

func letsAllThrough(policy string) bool { return policy == "" || policy == "{}" }
