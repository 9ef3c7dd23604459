package service

import (
	"encoding/json"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Bind returns the unique ids of the users and roles that the policy of a resource names, for access.Request.PolicyIDs,
// or the ARN of one that does not exist. idOf returns the id of a user or role by its ARN. A user who is renamed is
// still meant then, and another one who gets the name is not. old is what Bind has returned for the resource's policy
// before: who was bound there stays bound, also if there is no such user any more.
func Bind(p *policy.Policy, old string, idOf func(arn string) (string, bool)) (ids, unknown string) {
	before := make(map[string]string)
	if old != "" && json.Unmarshal([]byte(old), &before) != nil {
		before = nil // it is not readable, so no principal was ever bound by it
	}
	bound := make(map[string]string)
	for _, arn := range p.Entities() {
		id, ok := idOf(arn)
		if !ok {
			id, ok = before[arn]
		}
		if !ok {
			return "", arn
		}
		bound[arn] = id
	}
	if len(bound) == 0 {
		return "", ""
	}
	text, _ := json.Marshal(bound) // strings only
	return string(text), ""
}
