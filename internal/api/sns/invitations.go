package sns

import (
	"crypto/sha256"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/topic"
)

const (
	// askAgainAfter is how long a subscription of a mailbox that was asked for is not asked for again.
	askAgainAfter = time.Minute
	// maxAsked is how many addresses of a kind an account may ask at a time.
	maxAsked = 10_000
)

// The limits of the requests that ask for confirmations. They protect people and servers that want none.
var (
	// An account may ask an address for 50 subscriptions to any topics.
	ofMailbox = pace{50, 5 * time.Minute}
	// An endpoint of a topic is asked again at once if the first request has come too early for it.
	ofEndpoint = pace{5, time.Minute}
	// The endpoints of a host are limited together, because a host serves any number of URLs. A program may subscribe
	// many of them to many topics at once.
	ofHost = pace{1000, time.Second}
	// The hosts of an account are limited together, because any number of names may have the same address.
	ofHosts = pace{5000, time.Second / 5}
)

// pace limits requests to a number at once, and then to another one in each interval.
type pace struct {
	atOnce int
	every  time.Duration
}

// invitations counts the confirmation requests of each account to each address. Only the node that owns the control
// store has some.
type invitations struct {
	mu                                sync.Mutex
	mailboxes, endpoints, hosts, http tally
}

func newInvitations() *invitations {
	return &invitations{
		mailboxes: newTally(ofMailbox), endpoints: newTally(ofEndpoint),
		hosts: newTally(ofHost), http: newTally(ofHosts),
	}
}

// mayAsk reports whether the endpoint of a subscription may be asked now, and counts that.
func (i *invitations) mayAsk(sub *topic.Subscription, now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch sub.Protocol {
	case topic.Email, topic.EmailJSON:
		if c := sub.Confirmation; c != nil && now.Before(c.Expires.Add(askAgainAfter-tokenLifetime)) {
			return false
		}
		return counted(now, i.mailboxes.of(sub.Owner, mailbox(sub.Endpoint)))
	case topic.HTTP, topic.HTTPS:
		return counted(now, i.endpoints.of(sub.Owner, sub.Topic.ARN()+" "+sub.Endpoint),
			i.hosts.of(sub.Owner, hostOf(sub.Endpoint)), i.http.of(sub.Owner, ""))
	}
	return true
}

// counted counts a request in all tallies if all of them have room for it.
func counted(now time.Time, all ...addressee) bool {
	for _, a := range all {
		if !a.allows(now) {
			return false
		}
	}
	for _, a := range all {
		a.until[a.account][a.key] = a.next(now)
	}
	return true
}

// tally counts the requests of each account to each address of a kind.
type tally struct {
	pace
	// the times at which the account would have used up what it has asked, if it had asked once in each interval
	until map[string]map[addressKey]time.Time
}

// addressKey is the hash of an address: addresses may be long.
type addressKey [sha256.Size]byte

func newTally(p pace) tally { return tally{p, make(map[string]map[addressKey]time.Time)} }

// addressee is an address that an account asks.
type addressee struct {
	*tally
	account string
	key     addressKey
}

func (t *tally) of(account, address string) addressee {
	return addressee{t, account, sha256.Sum256([]byte(address))}
}

// allows reports whether another request keeps the pace, and makes room to count it.
func (a *addressee) allows(now time.Time) bool {
	return a.next(now).Sub(now) <= time.Duration(a.atOnce)*a.every && a.room(now)
}

// next returns the time at which the account would have used up what it has asked and another request.
func (a *addressee) next(now time.Time) time.Time {
	until := a.until[a.account][a.key]
	if until.Before(now) {
		until = now
	}
	return until.Add(a.every)
}

// room makes room for an address among those that an account asks, and reports whether there is some.
func (a *addressee) room(now time.Time) bool {
	asked := a.until[a.account]
	if asked == nil {
		asked = make(map[addressKey]time.Time)
		a.until[a.account] = asked
	}
	if _, ok := asked[a.key]; ok || len(asked) < maxAsked {
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
func mailbox(address string) string {
	at := strings.LastIndexByte(address, '@')
	local, _, _ := strings.Cut(address[:max(at, 0)], "+")
	return strings.ToLower(local + address[max(at, 0):])
}

// hostOf returns the host of an endpoint, whose ports lead to the same machine.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}
