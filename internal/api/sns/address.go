package sns

import "github.com/sluicemq/sluice/internal/topic"

// checkAddress refuses a URL or an e-mail address to which nothing can be delivered.
func (s *Service) checkAddress(sub *topic.Subscription) error {
	return errUnsupported("Protocol", "This server delivers to queues only, and not by "+string(sub.Protocol)+".")
}
