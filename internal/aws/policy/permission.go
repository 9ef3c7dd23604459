package policy

import (
	"fmt"
	"slices"
	"strings"
)

const maxLabelLength = 80

// Permission is what AddPermission grants: the named accounts may take the
// named actions (guide, "Understanding Permissions").
type Permission struct {
	Label    string
	Accounts []string // 12 digits each
	Actions  []string // without prefix: SendMessage, or * for all that can be shared
}

// AddPermission returns the policy with a statement more, which grants p and has its label as Sid. An empty policy is
// begun as SQS begins it. The other statements stay as they were, but for white space. The error is an *Error.
func AddPermission(policy, resource string, p Permission, rules *Rules) (string, error) {
	if err := p.check(rules); err != nil {
		return "", err
	}
	added := p.statement(resource, rules)
	if policy == "" {
		return fmt.Sprintf(
			`{"Version":%q,"Id":%q,"Statement":[%s]}`,
			Version2008,
			resource+"/"+strings.ToUpper(rules.Vendor)+"DefaultPolicy",
			added,
		), nil
	}
	doc, err := Parse(ForResource, policy)
	if err != nil {
		return "", err
	}
	principals, most := len(p.Accounts), rules.limits()
	for i := range doc.statements {
		s := &doc.statements[i]
		principals += len(s.principals.list)
		if s.sid == p.Label {
			return "", invalid(p.Label, "Label", "Already exists.")
		}
	}
	if n := len(doc.statements) + 1; n > most.Statements {
		return "", fault(OverLimit, "%d Statements were found, maximum allowed is %d.", n, most.Statements)
	}
	if principals > most.Principals {
		return "", fault(OverLimit, "%d Principals were found, maximum allowed is %d.", principals, most.Principals)
	}
	text := doc.with(append(doc.texts(""), added))
	if len(text) > most.Bytes {
		return "", errTooLarge()
	}
	return text, nil
}

// RemovePermission returns the policy without the statement that has the label,
// or the empty string if that was the last one. Only that very statement goes:
// what others grant, they still grant. The error is an *Error.
func RemovePermission(policy, label string) (string, error) {
	if label == "" {
		return "", fault(MissingParameter, "Label")
	}
	unknown := invalid(label, "Label", "can't find label.")
	if policy == "" {
		return "", unknown
	}
	doc, err := Parse(ForResource, policy)
	if err != nil {
		return "", err
	}
	switch rest := doc.texts(label); len(rest) {
	case len(doc.statements):
		return "", unknown
	case 0:
		return "", nil
	default:
		return doc.with(rest), nil
	}
}

// texts returns the statements as they were written, without white space and
// without the one whose Sid is except.
func (p *Policy) texts(except string) []string {
	var list []string
	for i := range p.statements {
		if s := &p.statements[i]; except == "" || s.sid != except {
			list = append(list, compact(p.source[s.pos:s.end]))
		}
	}
	return list
}

// with returns the document with other statements.
func (p *Policy) with(statements []string) string {
	return compact(p.source[:p.listPos]) + "[" + strings.Join(statements, ",") + "]" + compact(p.source[p.listEnd:])
}

func (p Permission) check(rules *Rules) error {
	most := rules.limits()
	switch {
	case p.Label == "":
		return fault(MissingParameter, "Label")
	case len(p.Label) > maxLabelLength || !alphanumeric(p.Label, "-_"):
		return invalid(p.Label, "Label", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	case len(p.Actions) == 0:
		return fault(MissingParameter, "Actions")
	case len(p.Actions) > most.Actions:
		return fault(OverLimit, "%d Actions were found, maximum allowed is %d.", len(p.Actions), most.Actions)
	case len(p.Accounts) == 0:
		return invalid("[]", "PrincipalId", "Unable to verify.")
	case len(p.Accounts) > most.Principals:
		return fault(OverLimit, "%d Principals were found, maximum allowed is %d.", len(p.Accounts), most.Principals)
	}
	for _, account := range p.Accounts {
		if !isAccount(account) {
			return invalid("["+account+"]", "PrincipalId", "Unable to verify.")
		}
	}
	prefix := strings.ToUpper(rules.Vendor) + ":"
	for _, action := range p.Actions {
		full := rules.Vendor + ":" + action
		switch {
		case action == "*", slices.Contains(rules.Actions, full) && !slices.Contains(rules.OwnerOnly, full):
		case slices.Contains(rules.OwnerOnly, full):
			return invalid(prefix+action, "ActionName", "Only the queue owner is allowed to invoke this action.")
		default:
			return invalid(prefix+action, "ActionName", "Please refer to the appropriate WSDL for a list of valid actions. ")
		}
	}
	return nil
}

func invalid(value, parameter, reason string) *Error {
	return fault(InvalidParameter, "Value %s for parameter %s is invalid. Reason: %s", value, parameter, reason)
}

// statement writes what grants p. Everything in it has been checked to consist
// of characters that JSON does not escape.
func (p Permission) statement(resource string, rules *Rules) string {
	principals := make([]string, len(p.Accounts))
	for i, account := range p.Accounts {
		principals[i] = "arn:aws:iam::" + account + ":root"
	}
	actions := make([]string, len(p.Actions))
	for i, action := range p.Actions {
		actions[i] = strings.ToUpper(rules.Vendor) + ":" + action
	}
	return fmt.Sprintf(`{"Sid":%q,"Effect":"Allow","Principal":{"AWS":%s},"Action":%s,"Resource":%q}`,
		p.Label, oneOrMany(principals), oneOrMany(actions), resource)
}

// oneOrMany is how SQS writes lists: a list of one is its element.
func oneOrMany(list []string) string {
	if len(list) == 1 {
		return `"` + list[0] + `"`
	}
	return `["` + strings.Join(list, `","`) + `"]`
}
