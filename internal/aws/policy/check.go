package policy

import (
	"cmp"
	"slices"
	"strings"
)

// Limits of a queue's policy (guide, "Special Information for Amazon SQS
// Policies"; the actions are today's).
const (
	MaxResourceBytes = 8192
	MaxStatements    = 20
	MaxPrincipals    = 50
	MaxConditions    = 10
	MaxActions       = 7 // in one statement
)

// Limits bound the policy of a resource. A zero member is the limit of a queue's.
type Limits struct {
	Bytes, Statements, Principals, Conditions int
	Actions                                   int // in one statement
}

// limits returns the limits of the policies of a service's resources.
func (r *Rules) limits() Limits {
	var l Limits
	if r != nil {
		l = r.Limits
	}
	return Limits{
		Bytes: cmp.Or(l.Bytes, MaxResourceBytes), Statements: cmp.Or(l.Statements, MaxStatements),
		Principals: cmp.Or(l.Principals, MaxPrincipals), Conditions: cmp.Or(l.Conditions, MaxConditions),
		Actions: cmp.Or(l.Actions, MaxActions),
	}
}

// Limits of IAM's documents, in characters without white space. Those of the
// inline policies are for all of an entity's together.
const (
	MaxUserInline  = 2048
	MaxGroupInline = 5120
	MaxRoleInline  = 10240
	MaxManaged     = 6144
	MaxTrust       = 2048
	MaxSession     = 2048
)

// ParseResource reads a policy that is about to be set on a resource, with
// all that Parse and CheckResource ask of it. The error is always an *Error.
func ParseResource(source string, rules *Rules) (*Policy, error) {
	if len(source) > rules.limits().Bytes { // checked before its contents
		return nil, errTooLarge()
	}
	p, err := Parse(ForResource, source)
	if err != nil {
		return nil, err
	}
	if err := p.CheckResource(rules); err != nil {
		return nil, err
	}
	return p, nil
}

func errTooLarge() *Error { return fault(OverLimit, "Submitted policy is over max allowed size.") }

// CheckResource returns the reason why p may not be set on a resource: it is
// larger than the limits, names actions that the service does not have, or has
// values in its conditions that cannot be read. Which resource p names does not
// matter, as on AWS: a statement about another one never applies; see Warnings.
// The error is an *Error.
func (p *Policy) CheckResource(rules *Rules) error {
	if p.use != ForResource {
		panic("policy: CheckResource of a policy for another use")
	}
	// The sentences about limits are SQS's.
	most := rules.limits()
	if len(p.source) > most.Bytes {
		return errTooLarge()
	}
	if n := len(p.statements); n > most.Statements {
		return fault(OverLimit, "%d statements were found in the submitted policy, max allowed is %d", n, most.Statements)
	}
	principals, conditions := 0, 0
	for i := range p.statements {
		s := &p.statements[i]
		if n := len(s.actions); n > most.Actions {
			return fault(OverLimit, "%d actions were found in a statement from the submitted policy, max allowed is %d", n, most.Actions)
		}
		principals += len(s.principals.list)
		conditions += len(s.conditions)
	}
	if principals > most.Principals {
		return fault(OverLimit, "%d principals were found in the submitted policy, max allowed is %d", principals, most.Principals)
	}
	if conditions > most.Conditions {
		return fault(OverLimit, "%d conditions were found in the submitted policy, max allowed is %d", conditions, most.Conditions)
	}
	for i := range p.statements {
		s := &p.statements[i]
		if err := p.checkActions(s, rules); err != nil {
			return err
		}
	}
	if err := p.checkValues(); err != nil {
		return err
	}
	return nil
}

func (p *Policy) fault(f Fault, pos int, format string, args ...any) *Error {
	r := reader{src: p.source}
	return r.fault(f, pos, format, args...)
}

// checkActions wants each action to stand for some that the service has.
func (p *Policy) checkActions(s *statement, rules *Rules) error {
	for i, a := range s.actions {
		if format, args := rules.lacks(a); format != "" {
			return p.fault(UnknownAction, s.actionPos[i], format, args...)
		}
	}
	return nil
}

// lacks returns the reason why an action matches none of the service's actions, as a format and its arguments; the
// format is empty if it matches some.
func (r *Rules) lacks(a actionPattern) (format string, args []any) {
	e := evaluation{steps: maxSteps}
	if slices.ContainsFunc(r.Actions, func(known string) bool { return a.matches(&e, known) }) {
		return "", nil
	}
	single, isBatch := strings.CutSuffix(string(a), "batch")
	if isBatch && contains(r.Actions, single) {
		return "a batch is covered by the action of its entries and cannot be named; name %s", []any{single}
	}
	return "%s has no action %s", []any{r.Vendor, a}
}

// checkValues wants each operator to be able to read its values.
func (p *Policy) checkValues() error {
	for i := range p.statements {
		for _, c := range p.statements[i].conditions {
			for _, o := range c.values {
				if !o.ok {
					return p.fault(BadValue, o.pos, "%s %s: %q is not %s", c.written, c.key.written, o.written, c.operator.family.wants())
				}
			}
		}
	}
	return nil
}

// CheckVersion returns the reason why a document may not become a managed policy of IAM, which must have the newest
// version. The error is an *Error.
func (p *Policy) CheckVersion() error {
	if p.version == Version2012 {
		return nil
	}
	return fault(OldVersion, "Policy document must be version %s or greater.", Version2012)
}

// partitions are AWS's, as in its public list of endpoints.
var partitions = []string{"aws", "aws-cn", "aws-us-gov", "aws-eusc", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f"}

// checkARNs wants each resource to be what IAM takes for an ARN. IAM completes a short one with stars.
func (p *Policy) checkARNs() error {
	for i := range p.statements {
		for _, r := range p.statements[i].written {
			if err := p.checkARN(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Policy) checkARN(r resource) error {
	parts := strings.SplitN(r.text, ":", segments)
	if len(parts) < 2 || parts[0] != "arn" {
		return nil
	}
	if !patterned(parts[1]) && !slices.Contains(partitions, parts[1]) {
		whole := r.text + strings.Repeat(":*", segments-len(parts))
		return p.fault(BadResource, r.pos, "Partition %q is not valid for resource %q.", parts[1], whole)
	}
	parts = append(parts, slices.Repeat([]string{"*"}, segments-len(parts))...)
	vendor, account, path := parts[2], parts[4], parts[5]
	switch {
	case vendor == "" || patterned(vendor):
		return p.fault(BadResource, r.pos, "Resource vendor must be fully qualified and cannot contain regexes.")
	case account != "" && account != "aws" && !patterned(account) && !isAccount(account):
		return p.fault(BadARN, r.pos, "%q is not an ARN: %q is not an account", r.text, account)
	case vendor == "iam" && path != "*" && path != "root" && !slices.ContainsFunc(iamPaths, func(begins string) bool {
		return strings.HasPrefix(path, begins)
	}):
		return p.fault(
			BadResource, r.pos, `IAM resource path must either be "*", root, or start with %s.`, strings.Join(iamPaths, ", "),
		)
	}
	return nil
}

// patterned reports whether a part of an ARN has wildcards or variables.
func patterned(part string) bool { return strings.ContainsAny(part, "*?$") }

// iamPaths begin the last parts of the ARNs that IAM's resources have.
var iamPaths = []string{
	"user/", "federated-user/", "role/", "group/", "instance-profile/", "mfa/", "server-certificate/", "policy/",
	"sms-mfa/", "saml-provider/", "oidc-provider/", "report/", "access-report/",
}

// CheckIAM returns the reason why IAM may not store a document or STS may not
// use it: it has characters that they do not accept, unreadable values, or is
// larger than limit, one of the Max constants. The limits of inline policies
// apply to several together: taken is the Size of the entity's others. The
// error is an *Error.
func (p *Policy) CheckIAM(limit, taken int) error {
	if err := p.checkBeginning(); err != nil {
		return err
	}
	for i, c := range p.source {
		if c == '\t' || c == '\n' || c == '\r' || ' ' <= c && c <= 0xff {
			continue
		}
		return p.fault(Grammar, i, "the character %q is not allowed in IAM's documents; write it as an escape", string(c))
	}
	if n := p.Size() + taken; n > limit {
		return fault(OverLimit, "Maximum policy size of %d bytes exceeded", limit)
	}
	if err := p.checkARNs(); err != nil {
		return err
	}
	if p.use == ForTrust {
		if err := p.checkTrust(); err != nil {
			return err
		}
	}
	if err := p.checkValues(); err != nil {
		return err
	}
	return nil
}

// checkBeginning refuses what IAM does not store: a document that begins with white space. STS uses it.
func (p *Policy) checkBeginning() error {
	if p.use == ForSession || !strings.ContainsAny(p.source[:1], " \t\r\n") {
		return nil
	}
	err := p.fault(LeadingSpace, 0, "the document begins with white space; it has to begin with the brace")
	err.use = p.use
	return err
}

// assuming are the actions that a trust policy can grant.
var assuming = &Rules{Vendor: "STS", Actions: []string{
	"sts:AssumeRole", "sts:AssumeRoleWithSAML", "sts:AssumeRoleWithWebIdentity", "sts:SetContext",
	"sts:SetSourceIdentity", "sts:TagSession",
}}

// checkTrust wants the actions to be some by which a role is assumed, the providers and services to be named as such,
// and everyone to be {"AWS": "*"}.
func (p *Policy) checkTrust() error {
	for i := range p.statements {
		s := &p.statements[i]
		for j, a := range s.actions {
			if format, _ := assuming.lacks(a); format != "" || !strings.HasPrefix(string(a), "sts:") {
				return p.fault(
					UnknownAction, s.actionPos[j],
					"%s is not an action by which a role is assumed; that is sts:AssumeRole", a,
				)
			}
		}
		for _, one := range s.principals.list {
			if err := p.checkTrusted(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTrusted is checkTrust for a principal.
func (p *Policy) checkTrusted(one principal) error {
	var err *Error
	switch {
	case one.bare:
		err = p.fault(BadPrincipal, one.pos, `Principal is the string "*"; of a trust policy it has to be {"AWS": "*"}`)
		err.sentence = `AssumeRolepolicy contained an invalid principal: "STAR":"*".`
	case one.kind == federatedPrincipal && !isProvider(one.name):
		err = p.fault(BadPrincipal, one.pos, "%q is not the ARN or the domain of an identity provider", one.name)
		err.sentence = "Federated principals must be valid domain names or SAML metadata ARNs"
	case one.kind == servicePrincipal && !isService(one.name):
		err = p.fault(BadPrincipal, one.pos, "%q is not the name of a service of AWS, such as ec2.amazonaws.com", one.name)
		err.principal = `"SERVICE":"` + quote(one.name) + `"`
	default:
		return nil
	}
	return err
}

// serviceDomains end the names of AWS's services.
var serviceDomains = []string{".amazonaws.com", ".amazonaws.com.cn", ".amazon.com", ".aws.internal"}

// isService reports whether a name can be that of a service of AWS.
func isService(name string) bool {
	return slices.ContainsFunc(serviceDomains, func(domain string) bool {
		return len(name) > len(domain) && strings.HasSuffix(name, domain)
	})
}

// isProvider reports whether a name can be that of an identity provider: an ARN, or the domain of one that AWS knows.
func isProvider(name string) bool {
	if !strings.HasPrefix(name, "arn:") {
		return strings.Contains(name, ".") && !strings.ContainsAny(name, "*?/: ")
	}
	a := cutARN(name)
	kind, rest, _ := strings.Cut(a.parts[5], "/")
	return a.parts[2] == "iam" && a.parts[3] == "" && isAccount(a.parts[4]) && rest != "" &&
		(kind == "oidc-provider" || kind == "saml-provider")
}
