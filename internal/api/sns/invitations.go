package sns

import (
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/topic"
)

// Limits of the mails that ask people to confirm subscriptions. They are for people that want none.
const (
	// askAgainAfter is how long a subscription that was asked for is not asked for again.
	askAgainAfter = time.Minute
	// An account may ask an address for asksAtOnce subscriptions, and for another one each askEvery.
	asksAtOnce = 50
	askEvery   = 5 * time.Minute
	// maxAsked is how many addresses an account may ask at a time.
	maxAsked = 10_000
)

// invitations counts the mails of each account to each address. Only the node that owns the control store has some.
type invitations struct {
	mu sync.Mutex
	// the times at which the account would have used up what it has asked, if it had asked one each askEvery
	until map[string]map[[sha256.Size]byte]time.Time
}

func newInvitations() *invitations {
	return &invitations{until: make(map[string]map[[sha256.Size]byte]time.Time)}
}

// mayAsk reports whether the endpoint of a subscription may be asked now, and counts that.
func (i *invitations) mayAsk(sub *topic.Subscription, now time.Time) bool {
	if sub.Protocol != topic.Email && sub.Protocol != topic.EmailJSON {
		return true
	}
	if c := sub.Confirmation; c != nil && now.Before(c.Expires.Add(askAgainAfter-tokenLifetime)) {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	asked, address := i.until[sub.Owner], mailbox(sub.Endpoint)
	until := asked[address]
	if until.Before(now) {
		until = now
	}
	if until = until.Add(askEvery); until.Sub(now) > asksAtOnce*askEvery || !i.room(sub.Owner, address, now) {
		return false
	}
	i.until[sub.Owner][address] = until
	return true
}

// room makes room for an address among those that an account asks, and reports whether there is some.
func (i *invitations) room(account string, address [sha256.Size]byte, now time.Time) bool {
	asked := i.until[account]
	if asked == nil {
		asked = make(map[[sha256.Size]byte]time.Time)
		i.until[account] = asked
	}
	if _, ok := asked[address]; ok || len(asked) < maxAsked {
		return true
	}
	for other, until := range asked {
		if !now.Before(until) {
			delete(asked, other)
		}
	}
	return len(asked) < maxAsked
}

// mailbox returns the same for addresses whose mails most likely reach the same person.
func mailbox(address string) [sha256.Size]byte {
	at := strings.LastIndexByte(address, '@')
	local, _, _ := strings.Cut(address[:max(at, 0)], "+")
	return sha256.Sum256([]byte(strings.ToLower(local + address[max(at, 0):])))
}
