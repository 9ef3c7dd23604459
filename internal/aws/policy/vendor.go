package policy

import "strings"

// AllowsSome reports whether a statement of p allows an action of a service, on any resource and under any condition.
// The service is named by the prefix of its actions, in lower case.
func (p *Policy) AllowsSome(vendor string) bool {
	for i := range p.statements {
		if s := &p.statements[i]; s.effect == Allow && s.names(vendor) {
			return true
		}
	}
	return false
}

// names reports whether s is about actions of a service. NotAction leaves some over, unless it has all of them.
func (s *statement) names(vendor string) bool {
	for _, a := range s.actions {
		of, name, _ := strings.Cut(string(a), ":")
		switch {
		case s.notActions && (a == "*" || of == vendor && name == "*"):
			return false
		case !s.notActions && (a == "*" || of == vendor):
			return true
		}
	}
	return s.notActions
}
