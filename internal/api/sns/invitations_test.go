package sns

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/topic"
)

// An account can ask an address several times at once, and then at intervals. This does not affect other addresses and
// accounts.
func TestInvitations(t *testing.T) {
	t.Parallel()
	i, now := newInvitations(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	asks := func(account, address string, p topic.Protocol, tries, want int) {
		t.Helper()
		n := 0
		for range tries {
			if i.mayAsk(&topic.Subscription{Owner: account, Protocol: p, Endpoint: address}, now) {
				n++
			}
		}
		if n != want {
			t.Errorf("%s asks %s %d times, want %d", account, address, n, want)
		}
	}
	asks("a", "me@example.com", topic.Email, 60, ofMailbox.atOnce)
	for _, same := range []string{"Me@Example.com", "me+1@example.com"} {
		asks("a", same, topic.EmailJSON, 10, 0)
	}
	asks("a", "you@example.com", topic.Email, 1, 1)
	asks("b", "me@example.com", topic.Email, 1, 1)
	now = now.Add(ofMailbox.every)
	asks("a", "me@example.com", topic.Email, 9, 1)
	now = now.Add(24 * time.Hour)
	asks("a", "me@example.com", topic.Email, 60, ofMailbox.atOnce)
}

// The number of addresses that an account asks is bounded. This does not affect the next account.
func TestInvitationsAreBounded(t *testing.T) {
	t.Parallel()
	i, now := newInvitations(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ask := func(account string, n int) bool {
		return i.mayAsk(&topic.Subscription{Owner: account, Protocol: topic.Email, Endpoint: fmt.Sprint(n, "@x")}, now)
	}
	for n := range maxAsked {
		if !ask("a", n) {
			t.Fatalf("the address %d is not asked", n)
		}
	}
	if ask("a", maxAsked) || !ask("a", 0) || !ask("b", maxAsked) {
		t.Error("the bound is wrong")
	}
	if now = now.Add(ofMailbox.every); !ask("a", maxAsked) || len(i.mailboxes.until["a"]) != 2 {
		t.Errorf("%d addresses are kept", len(i.mailboxes.until["a"]))
	}
}

// An endpoint is asked some times at once, and then once a minute. The endpoints of a host share a limit, and so do the
// hosts of an account: a client must not use the server to flood a third party.
func TestRequestsToEndpointsAreFew(t *testing.T) {
	t.Parallel()
	i, now := newInvitations(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	asks := func(account, to string, tries, want int) {
		t.Helper()
		n := 0
		for try := range tries {
			endpoint := strings.ReplaceAll(to, "#", fmt.Sprint(try))
			if i.mayAsk(&topic.Subscription{Owner: account, Protocol: topic.HTTPS, Endpoint: endpoint}, now) {
				n++
			}
		}
		if n != want {
			t.Errorf("%s asks %s %d times, want %d", account, to, n, want)
		}
	}
	asks("a", "https://one.example/", 99, ofEndpoint.atOnce)
	now = now.Add(ofEndpoint.every)
	asks("a", "https://one.example/", 99, 1)
	asks("a", "https://One.example.:84#/#", 2*ofHost.atOnce, ofHost.atOnce-1)
	asks("b", "https://one.example/", 1, 1)
	now = now.Add(ofHost.every)
	asks("a", "https://one.example/again/#", 10, 1)
	asks("a", "https://#.example", 9000, ofHosts.atOnce-ofHost.atOnce+int(ofHost.every/ofHosts.every)-1)
	now = now.Add(time.Second)
	asks("a", "https://more-#.example", 10, 5)
}
