package service

import (
	"strings"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// QueueName returns the name of the queue in a URL or its path, or false if there is no name. A bare name means a queue
// of the caller. Only the account and the name at the end of a URL count: the host may be any name of the server.
func QueueName(c *protocol.Call, url string) (catalog.Name, bool) {
	path := url
	if _, rest, ok := strings.Cut(path, "://"); ok {
		_, path, _ = strings.Cut(rest, "/")
	}
	path = strings.Trim(path, "/")
	if path == "" {
		return catalog.Name{}, false
	}
	n := catalog.Name{Account: Caller(c).Account, Region: c.Region, Queue: path}
	if slash := strings.LastIndexByte(path, '/'); slash >= 0 {
		n.Queue = path[slash+1:]
		account := path[:slash]
		n.Account = account[strings.LastIndexByte(account, '/')+1:]
		if !identity.IsAccount(n.Account) {
			return catalog.Name{}, false
		}
	}
	return n, true
}
