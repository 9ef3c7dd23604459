package service

import (
	"encoding/json"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Bind returns the unique ids of the users and roles that the policy of a resource names, for access.Request.PolicyIDs,
// or the ARN of one that does not exist. idOf returns the id of a user or role by its ARN. So the policy still applies
// to a user who is renamed, and not to another user who gets the name. old is the previous result of Bind for the
// resource's policy: its users and roles stay bound, even if they no longer exist.
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
