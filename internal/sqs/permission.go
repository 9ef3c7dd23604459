package sqs

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/identity"
	"github.com/sluicemq/sluice/internal/protocol"
)

// Limits of a queue's policy (guide, "Special Information for SQS Policies").
const (
	maxPolicyBytes  = 8192
	maxStatements   = 20
	maxActions      = 7
	maxLabelLength  = 80
	policyVersion   = "2008-10-17"
	defaultPolicyID = "/SQSDefaultPolicy"
)

// policyDocument is a policy as far as its statements can be told apart. What
// is in the ones that are not ours stays as it was written.
type policyDocument struct {
	Version   string            `json:"Version,omitempty"`
	ID        string            `json:"Id,omitempty"`
	Statement []json.RawMessage `json:"Statement"`
}

// checkPolicy refuses what cannot be a policy or is larger than one may be. The
// empty string removes the policy.
func checkPolicy(value string) *protocol.Error {
	if value == "" {
		return nil
	}
	if len(value) > maxPolicyBytes {
		return errOverLimit("Submitted policy is over max allowed size.")
	}
	p, ok := parsePolicy(value)
	if !ok {
		return errAttributeValue(attrPolicy, "")
	}
	if n := len(p.Statement); n > maxStatements {
		return errOverLimit("%d statements were found in the submitted policy, max allowed is %d", n, maxStatements)
	}
	for _, raw := range p.Statement {
		st, ok := members(string(raw))
		if !ok {
			return errAttributeValue(attrPolicy, "")
		}
		var actions []string
		if json.Unmarshal(st["Action"], &actions) == nil && len(actions) > maxActions {
			return errOverLimit("%d actions were found in a statement from the submitted policy, max allowed is %d", len(actions), maxActions)
		}
	}
	return nil
}

// parsePolicy reads a policy document, in which a single statement may stand
// without a list around it.
func parsePolicy(value string) (*policyDocument, bool) {
	p, ok := members(value)
	if !ok {
		return nil, false
	}
	doc := new(policyDocument)
	for name, to := range map[string]*string{"Version": &doc.Version, "Id": &doc.ID} {
		if raw := p[name]; raw != nil && json.Unmarshal(raw, to) != nil {
			return nil, false
		}
	}
	raw := p["Statement"]
	switch {
	case len(raw) == 0:
		return nil, false
	case raw[0] == '[':
		if json.Unmarshal(raw, &doc.Statement) != nil || len(doc.Statement) == 0 {
			return nil, false
		}
	case raw[0] == '{':
		doc.Statement = []json.RawMessage{raw}
	default:
		return nil, false
	}
	return doc, true
}

// label returns the Sid of a statement.
func label(statement json.RawMessage) string {
	var sid string
	if st, ok := members(string(statement)); ok {
		_ = json.Unmarshal(st["Sid"], &sid) // a statement without a Sid has no label
	}
	return sid
}

// shareable are the actions that a permission can grant. Batch actions come
// with their single ones.
var shareable = []string{
	"ChangeMessageVisibility", "DeleteMessage", "GetQueueAttributes", "GetQueueUrl",
	"ListDeadLetterSourceQueues", "PurgeQueue", "ReceiveMessage", "SendMessage",
}

// ownerOnly are the actions that stay with the queue's owner.
var ownerOnly = []string{
	"AddPermission", "CancelMessageMoveTask", "CreateQueue", "DeleteQueue", "ListMessageMoveTasks",
	"ListQueues", "ListQueueTags", "RemovePermission", "SetQueueAttributes", "StartMessageMoveTask",
	"TagQueue", "UntagQueue",
}

type addPermissionInput struct {
	QueueUrl      string
	Label         string
	AWSAccountIds []string `query:"AWSAccountId"`
	Actions       []string `query:"ActionName"`
}

func (s *Service) addPermission(ctx context.Context, c *protocol.Call, in *addPermissionInput) (*empty, error) {
	q, err := s.queue(ctx, c, in.QueueUrl, "AddPermission")
	if err != nil {
		return nil, err
	}
	if err := checkPermission(in); err != nil {
		return nil, err
	}
	return nil, s.update(ctx, q, func(q *catalog.Queue) error {
		doc, ok := parsePolicy(q.Attributes.Policy)
		if !ok {
			doc = &policyDocument{Version: policyVersion, ID: q.Name.ARN() + defaultPolicyID}
		}
		for _, st := range doc.Statement {
			if label(st) == in.Label {
				return errValue(in.Label, "Label", "Already exists.")
			}
		}
		if n := len(doc.Statement) + 1; n > maxStatements {
			return errOverLimit("%d Statements were found, maximum allowed is %d.", n, maxStatements)
		}
		doc.Statement = append(doc.Statement, permission(in, q.Name.ARN()))
		policy := mustJSON(doc)
		if len(policy) > maxPolicyBytes {
			return errOverLimit("Submitted policy is over max allowed size.")
		}
		q.Attributes.Policy = policy
		return nil
	})
}

func checkPermission(in *addPermissionInput) *protocol.Error {
	switch {
	case in.Label == "":
		return protocol.MissingParameter("Label")
	case !validName(in.Label, maxLabelLength):
		return errValue(in.Label, "Label", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	case len(in.Actions) == 0:
		return protocol.MissingParameter("Actions")
	case len(in.Actions) > maxActions:
		return errOverLimit("%d Actions were found, maximum allowed is %d.", len(in.Actions), maxActions)
	case len(in.AWSAccountIds) == 0:
		return protocol.InvalidParameterValue("Value [] for parameter PrincipalId is invalid. Reason: Unable to verify.")
	}
	for _, account := range in.AWSAccountIds {
		if !identity.IsAccount(account) {
			return errValue("["+account+"]", "PrincipalId", "Unable to verify.")
		}
	}
	for _, action := range in.Actions {
		switch {
		case action == "*", slices.Contains(shareable, action):
		case slices.Contains(ownerOnly, action):
			return errValue("SQS:"+action, "ActionName", "Only the queue owner is allowed to invoke this action.")
		default:
			return errValue("SQS:"+action, "ActionName", "Please refer to the appropriate WSDL for a list of valid actions. ")
		}
	}
	return nil
}

// permission writes the statement that grants what in asks for.
func permission(in *addPermissionInput, arn string) json.RawMessage {
	principals := make([]string, len(in.AWSAccountIds))
	for i, account := range in.AWSAccountIds {
		principals[i] = identity.Root(account, "").ARN
	}
	actions := make([]string, len(in.Actions))
	for i, action := range in.Actions {
		actions[i] = "SQS:" + action
	}
	return json.RawMessage(mustJSON(struct {
		Sid       string
		Effect    string
		Principal map[string]any
		Action    any
		Resource  string
	}{in.Label, "Allow", map[string]any{"AWS": oneOrMany(principals)}, oneOrMany(actions), arn}))
}

// oneOrMany is how policies write lists: a list of one is its element.
func oneOrMany(list []string) any {
	if len(list) == 1 {
		return list[0]
	}
	return list
}

type removePermissionInput struct {
	QueueUrl string
	Label    string
}

func (s *Service) removePermission(ctx context.Context, c *protocol.Call, in *removePermissionInput) (*empty, error) {
	q, err := s.queue(ctx, c, in.QueueUrl, "RemovePermission")
	if err != nil {
		return nil, err
	}
	if in.Label == "" {
		return nil, protocol.MissingParameter("Label")
	}
	return nil, s.update(ctx, q, func(q *catalog.Queue) error {
		doc, ok := parsePolicy(q.Attributes.Policy)
		if ok {
			before := len(doc.Statement)
			doc.Statement = slices.DeleteFunc(doc.Statement, func(st json.RawMessage) bool { return label(st) == in.Label })
			ok = len(doc.Statement) < before
		}
		if !ok {
			return errValue(in.Label, "Label", "can't find label.")
		}
		q.Attributes.Policy = ""
		if len(doc.Statement) > 0 {
			q.Attributes.Policy = mustJSON(doc)
		}
		return nil
	})
}
