package sqs

import (
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// target returns the name of the queue in a request. url is its QueueUrl parameter. A Query request without one names
// the queue in its path.
func target(c *protocol.Call, url string) (catalog.Name, error) {
	path := url
	if url == "" && c.Kind == protocol.Query {
		path = c.Path
	}
	n, ok := service.QueueName(c, path)
	if !ok {
		return catalog.Name{}, errNoQueue()
	}
	return n, nil
}

// elsewhere reports whether the host of a queue URL is Amazon's in another region, such as sqs.eu-west-1.amazonaws.com
// or eu-west-1.queue.amazonaws.com. That explains why a queue was not found; a queue that is found is used even with
// such a host.
func elsewhere(url, region string) bool {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(strings.ToLower(rest), "/")
	name, ok := strings.CutSuffix(strings.TrimSuffix(host, ".cn"), ".amazonaws.com")
	if !ok || name == "queue" {
		return false
	}
	return strings.TrimSuffix(strings.TrimPrefix(name, "sqs."), ".queue") != region
}

// url returns the queue's URL as the client of this call can use it.
func (s *Service) url(c *protocol.Call, n catalog.Name) string {
	base := s.publicURL
	if base == "" {
		base = c.Scheme + "://" + c.Host
	}
	return base + "/" + n.Account + "/" + n.Queue
}
