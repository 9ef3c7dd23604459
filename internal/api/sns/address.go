package sns

import (
	"errors"
	"regexp"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
)

// checkAddress refuses a URL or an e-mail address to which nothing can be delivered.
func (s *subscriptions) checkAddress(sub *topic.Subscription) error {
	p := sub.Protocol
	switch {
	case sub.Endpoint == "":
		return errParameter("Endpoint")
	case (p == topic.HTTP || p == topic.HTTPS) && !hasScheme(sub.Endpoint, string(p)):
		return errParameter("Endpoint must match the specified protocol")
	}
	switch err := s.endpoints(string(p), sub.Endpoint); {
	case errors.Is(err, delivery.ErrAddress):
		return errParameter("Email address")
	case err != nil:
		return errParameter("Endpoint Reason: %s", service.Shorten(err.Error()))
	}
	return nil
}

// hasScheme reports whether a URL begins with that scheme.
func hasScheme(url, scheme string) bool {
	before, _, ok := strings.Cut(url, "://")
	return ok && strings.EqualFold(before, scheme)
}

// checkPhone refuses a number that no phone can have. Dots, slashes and hyphens may stand between its digits, one at a
// time.
func (s *subscriptions) checkPhone(number string) error {
	if !phoneEndpoint.MatchString(number) {
		return errPhone(number)
	}
	return s.phones()
}

// phoneEndpoint is a number of E.164 with separators.
var phoneEndpoint = regexp.MustCompile(`^\+?[1-9]([-./]?[0-9]){1,14}$`)
