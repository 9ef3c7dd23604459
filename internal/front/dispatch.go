package front

import (
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// serviceOf returns the service of a request. JSON and CBOR name it. For a Query request the scope of its signature
// decides, which is empty without a valid signature; then the version, which is unique to each service; then an
// operation that only one service has; then the host. All other requests are for SQS.
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

// serviceNamed returns the service with this name in scopes, or nil.
func (f *Front) serviceNamed(name string) *protocol.Service {
	if i := slices.IndexFunc(f.Services, func(s *protocol.Service) bool { return s.Name == name }); i >= 0 {
		return f.Services[i]
	}
	return nil
}

// first returns the first matching service, or SQS.
func (f *Front) first(wanted func(*protocol.Service) bool) *protocol.Service {
	if i := slices.IndexFunc(f.Services, wanted); i >= 0 {
		return f.Services[i]
	}
	return f.Services[0]
}
