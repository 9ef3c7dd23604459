package sqs

import (
	"strings"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/identity"
	"github.com/sluicemq/sluice/internal/protocol"
)

// target returns the name of the queue that a request is about. url is its
// QueueUrl parameter; a Query request without one is about the queue of its
// path. Only the account and the name at the end of the URL count: the host is
// however the client reaches the server. A bare name is a queue of the caller.
func target(c *protocol.Call, url string) (catalog.Name, bool) {
	if url == "" && c.Kind == protocol.Query {
		url = c.Path
	}
	if _, rest, ok := strings.Cut(url, "://"); ok {
		_, url, _ = strings.Cut(rest, "/")
	}
	url = strings.Trim(url, "/")
	if url == "" {
		return catalog.Name{}, false
	}
	n := catalog.Name{Account: caller(c).Account, Region: c.Region, Queue: url}
	if slash := strings.LastIndexByte(url, '/'); slash >= 0 {
		n.Queue = url[slash+1:]
		account := url[:slash]
		n.Account = account[strings.LastIndexByte(account, '/')+1:]
		if !identity.IsAccount(n.Account) {
			return catalog.Name{}, false
		}
	}
	return n, true
}

// url returns the queue's URL as the client of this call can use it.
func (s *Service) url(c *protocol.Call, n catalog.Name) string {
	base := s.publicURL
	if base == "" {
		base = c.Scheme + "://" + c.Host
	}
	return base + "/" + n.Account + "/" + n.Queue
}

// parseARN takes a queue's ARN apart.
func parseARN(arn string) (catalog.Name, bool) {
	parts := strings.Split(arn, ":")
	if len(parts) != 6 || parts[0] != "arn" || parts[1] == "" || parts[2] != "sqs" ||
		parts[3] == "" || !identity.IsAccount(parts[4]) || parts[5] == "" {
		return catalog.Name{}, false
	}
	return catalog.Name{Region: parts[3], Account: parts[4], Queue: parts[5]}, true
}
