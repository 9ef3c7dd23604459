package policy_test

import (
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// model decides a request from the documents' JSON, slowly and simply, as a reader of AWS's guide would, rule by rule.
type model struct {
	request  *policy.Request
	resource string // JSON of the resource's policy, or empty
	trust    bool
	identity []string
	boundary string
	session  []string
}

// statements returns all statements of the existing documents.
func statements(documents ...string) []map[string]any {
	var all []map[string]any
	for _, d := range documents {
		if d == "" {
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(d), &doc); err != nil {
			panic(err)
		}
		for _, s := range many(doc["Statement"]) {
			st := s.(map[string]any)
			st["version"] = doc["Version"]
			all = append(all, st)
		}
	}
	return all
}

// many returns a value as a list.
func many(v any) []any {
	if v == nil {
		return nil
	}
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// applies returns the statements with this effect that match the request, whichever principals they name.
func (m *model) applies(effect string, documents ...string) []map[string]any {
	var all []map[string]any
	for _, st := range statements(documents...) {
		if st["Effect"] == effect && m.action(st) && m.resources(st) && m.conditions(st) {
			all = append(all, st)
		}
	}
	return all
}

func (m *model) decide() policy.Result {
	r, c := m.request, &m.request.Caller
	stranger := c.Kind == policy.Anonymous || c.Kind == policy.Service || c.Kind == policy.WebIdentity
	home := !stranger && c.Account == r.Owner
	root := c.Kind == policy.Account
	if home && root && !m.trust && slices.Contains(sqs.Repair, r.Action) {
		return policy.Allowed
	}
	if !home && slices.Contains(sqs.OwnerOnly, r.Action) || m.trust && root {
		return policy.Refused
	}

	var direct, public, issuer, account, denied bool
	for _, st := range m.applies("Deny", m.resource) {
		d, p, i, a := m.principals(st)
		denied = denied || d || p || i || a
	}
	for _, st := range m.applies("Allow", m.resource) {
		d, p, i, a := m.principals(st)
		direct, public, issuer, account = direct || d, public || p, issuer || i, account || a
	}
	if !stranger {
		denied = denied || len(m.applies("Deny", append(append(m.identity, m.session...), m.boundary)...)) > 0
	}
	if denied {
		return policy.ExplicitlyDenied
	}

	within := m.boundary == "" || len(m.applies("Allow", m.boundary)) > 0
	public = public &&
		(stranger || !home || within && (len(m.session) == 0 || len(m.applies("Allow", m.session...)) > 0))
	if len(m.session) > 0 || c.Kind == policy.FederatedUser {
		within = within && len(m.applies("Allow", m.session...)) > 0
	}
	own := root || strings.HasSuffix(c.Issuer, ":root") || len(m.applies("Allow", m.identity...)) > 0
	allowed := false
	switch {
	case c.Kind == policy.WebIdentity:
		allowed = direct
	case stranger:
		allowed = direct || public
	case m.trust && home:
		allowed = direct || public || issuer && within || account && own && within
	case home:
		allowed = direct || public || issuer && within || own && within
	default:
		allowed = (direct || public || issuer || account) && own && within
	}
	if allowed {
		return policy.Allowed
	}
	return policy.Refused
}

func (m *model) action(st map[string]any) bool {
	list, not := st["Action"], false
	if list == nil {
		list, not = st["NotAction"], true
	}
	for _, a := range many(list) {
		if wild([]rune(strings.ToLower(a.(string))), []rune(strings.ToLower(m.request.Action))) {
			return !not
		}
	}
	return not
}

// wild implements * and ?, by definition.
func wild(p, s []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '*':
		return wild(p[1:], s) || len(s) > 0 && wild(p, s[1:])
	case len(s) == 0:
		return false
	}
	return (p[0] == '?' || p[0] == s[0]) && wild(p[1:], s[1:])
}

func (m *model) resources(st map[string]any) bool {
	list, not := st["Resource"], false
	if list == nil {
		list, not = st["NotResource"], true
	}
	if list == nil {
		return true // of a trust policy
	}
	for _, x := range many(list) {
		p := x.(string)
		if p == "*" || m.request.Action != "sqs:ListQueues" && m.arn(st, p, m.request.Resource) {
			return !not
		}
	}
	return not
}

// arn compares part by part. The only variable that the tests use is
// ${aws:username}.
func (m *model) arn(st map[string]any, pattern, arn string) bool {
	const variable = "${aws:username}"
	name := ""
	if st["version"] == "2012-10-17" && strings.Contains(pattern, variable) {
		if m.request.Caller.Kind != policy.User {
			return false
		}
		name = m.request.Caller.UserName
		pattern = strings.ReplaceAll(pattern, variable, "<NAME>")
	}
	// A * that is no wildcard becomes another character, on both sides.
	name, arn = strings.ReplaceAll(name, "*", "\ue000"), strings.ReplaceAll(arn, "*", "\ue000")
	parts := strings.SplitN(pattern, ":", 6)
	texts := strings.SplitN(arn, ":", len(parts))
	if len(parts) < 6 && !strings.HasSuffix(pattern, "*") || len(texts) != len(parts) {
		return false
	}
	for i := range parts {
		if !wild([]rune(strings.ReplaceAll(parts[i], "<NAME>", name)), []rune(texts[i])) {
			return false
		}
	}
	return true
}

// principals reports whether a statement names the caller, everyone, the user or role behind the caller's session, or
// its account.
func (m *model) principals(st map[string]any) (direct, public, issuer, account bool) {
	c := &m.request.Caller
	element, not := st["Principal"], false
	if element == nil {
		element, not = st["NotPrincipal"], true
	}
	var names []string
	if element == "*" {
		names = []string{"*"}
	} else {
		for _, list := range element.(map[string]any) {
			for _, n := range many(list) {
				names = append(names, n.(string))
			}
		}
	}
	signed := c.Account != ""
	everybody := slices.Contains(names, "*")
	itself := c.ARN != "" && slices.Contains(names, c.ARN) || c.Service != "" && slices.Contains(names, c.Service) ||
		c.Provider != "" && slices.Contains(names, c.Provider)
	itsIssuer := c.Issuer != "" && slices.Contains(names, c.Issuer)
	itsAccount := signed &&
		(slices.Contains(names, c.Account) || slices.Contains(names, "arn:aws:iam::"+c.Account+":root"))
	if c.Kind == policy.Account {
		itself = itself || itsAccount
	}
	switch {
	case not && st["Effect"] == "Allow":
		return false, !itself && !everybody && !itsIssuer && !itsAccount, false, false
	case not:
		spared := everybody || itself && (itsAccount || !signed) && (itsIssuer || c.Kind != policy.AssumedRole)
		return false, !spared, false, false
	}
	return itself, everybody, itsIssuer, itsAccount
}

// key returns the values of a condition key that the tests use.
func (m *model) key(name string) (values []string, list bool) {
	r := m.request
	one := func(s string, present bool) []string {
		if !present {
			return nil
		}
		return []string{s}
	}
	switch strings.ToLower(name) {
	case "aws:currenttime":
		return one(r.Facts.Time.Format(time.RFC3339Nano), true), false
	case "aws:epochtime":
		return one(strconv.FormatInt(r.Facts.Time.Unix(), 10), true), false
	case "aws:sourceip":
		return one(r.Facts.SourceIP.String(), r.Facts.SourceIP.IsValid() && r.Caller.Kind != policy.Service), false
	case "aws:username":
		return one(r.Caller.UserName, r.Caller.Kind == policy.User), false
	case "aws:useragent":
		return one(r.Facts.UserAgent, r.Facts.UserAgent != ""), false
	case "aws:securetransport":
		return one(strconv.FormatBool(r.Facts.SecureTransport), true), false
	case "aws:sourcearn":
		return one(r.Facts.SourceARN, r.Caller.Kind == policy.Service), false
	case "aws:tagkeys":
		return r.Facts.TagKeys, true
	}
	return nil, false
}

func (m *model) conditions(st map[string]any) bool {
	all, _ := st["Condition"].(map[string]any)
	for operator, keys := range all {
		for key, wants := range keys.(map[string]any) {
			var texts []string
			for _, w := range many(wants) {
				text, ok := w.(string)
				if !ok {
					b, _ := json.Marshal(w)
					text = string(b)
				}
				texts = append(texts, text)
			}
			if !m.condition(operator, key, texts) {
				return false
			}
		}
	}
	return true
}

func (m *model) condition(operator, key string, wants []string) bool {
	values, list := m.key(key)
	absent := len(values) == 0
	if operator == "Null" {
		return slices.Contains(wants, strconv.FormatBool(absent))
	}
	forAll, every := strings.CutPrefix(operator, "ForAllValues:")
	forAny, some := strings.CutPrefix(operator, "ForAnyValue:")
	if every {
		operator = forAll
	} else if some {
		operator = forAny
	}
	operator, ifExists := strings.CutSuffix(operator, "IfExists")
	negated := strings.Contains(operator, "Not")
	operator = strings.ReplaceAll(operator, "Not", "")
	satisfied := func(value string) bool {
		for _, w := range wants {
			if same(operator, value, w) {
				return !negated
			}
		}
		return negated
	}
	switch {
	case absent && ifExists:
		return true
	case absent && every:
		return true
	case absent && some:
		return false
	case absent:
		return negated
	case every:
		return !slices.ContainsFunc(values, func(v string) bool { return !satisfied(v) })
	case some:
		return slices.ContainsFunc(values, satisfied)
	}
	return !list && satisfied(values[0])
}

// same compares a value of the request with one of a condition.
func same(operator, value, want string) bool {
	switch operator {
	case "StringEquals":
		return value == want
	case "StringEqualsIgnoreCase":
		return strings.EqualFold(value, want)
	case "StringLike":
		return wild([]rune(want), []rune(value))
	case "Bool":
		return strings.EqualFold(value, want)
	case "IpAddress":
		if !strings.Contains(want, "/") {
			want += map[bool]string{true: "/32", false: "/128"}[strings.Contains(want, ".")]
		}
		_, network, err := net.ParseCIDR(want)
		return err == nil && network.Contains(net.ParseIP(value))
	case "ArnEquals", "ArnLike":
		return new(model).arn(nil, want, value)
	}
	order := 0
	if kind, rest, ok := strings.Cut(operator, "Date"); ok && kind == "" {
		operator = rest
		v, err1 := time.Parse(time.RFC3339, value)
		w, err2 := time.Parse(time.RFC3339, want)
		if err1 != nil || err2 != nil {
			return false
		}
		order = v.Compare(w)
	} else {
		operator = strings.TrimPrefix(operator, "Numeric")
		v, err1 := strconv.ParseFloat(value, 64)
		w, err2 := strconv.ParseFloat(want, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		switch {
		case v < w:
			order = -1
		case v > w:
			order = 1
		}
	}
	return operator == "Equals" && order == 0 || operator == "LessThan" && order < 0 ||
		operator == "LessThanEquals" && order <= 0 ||
		operator == "GreaterThan" && order > 0 || operator == "GreaterThanEquals" && order >= 0
}
