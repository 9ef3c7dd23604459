package front

import (
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// serviceOf returns the service that a request is for. JSON and CBOR name it. For a Query request the scope of its
// signature decides, which is empty if there is none or it does not hold; then the version, which each service has of
// its own; then an operation that only one service has; then the host. The remaining requests are for SQS.
func (f *Front) serviceOf(r *protocol.Request, host, scope string) *protocol.Service {
	if r.Kind.NamesService() {
		return f.first(func(s *protocol.Service) bool { return s.Is(r.Target) })
	}
	if scope != "" {
		if s := f.serviceNamed(scope); s != nil {
			return s
		}
	}
	if r.Version != "" {
		return f.first(func(s *protocol.Service) bool { return slices.Contains(s.Versions, r.Version) })
	}
	var only *protocol.Service
	for _, s := range f.Services {
		if s.Knows(r.Operation) && len(s.Versions) > 0 {
			if only != nil {
				only = nil
				break
			}
			only = s
		}
	}
	if only != nil {
		return only
	}
	label, _, _ := strings.Cut(strings.ToLower(host), ".")
	return f.first(func(s *protocol.Service) bool { return s.Name == label && len(s.Versions) > 0 })
}

// serviceNamed returns the service that scopes call so, or nil.
func (f *Front) serviceNamed(name string) *protocol.Service {
	if i := slices.IndexFunc(f.Services, func(s *protocol.Service) bool { return s.Name == name }); i >= 0 {
		return f.Services[i]
	}
	return nil
}

// first returns the first service that is wanted, or SQS.
func (f *Front) first(wanted func(*protocol.Service) bool) *protocol.Service {
	if i := slices.IndexFunc(f.Services, wanted); i >= 0 {
		return f.Services[i]
	}
	return f.Services[0]
}
