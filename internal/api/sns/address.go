package sns

import (
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/topic"
)

// checkAddress refuses a URL or an e-mail address to which nothing can be delivered.
func (s *Service) checkAddress(sub *topic.Subscription) error {
	if sub.Endpoint == "" {
		return errParameter("Endpoint")
	}
	if err := s.endpoints(string(sub.Protocol), sub.Endpoint); err != nil {
		return errParameter("Endpoint Reason: %s", service.Shorten(err.Error()))
	}
	return nil
}
