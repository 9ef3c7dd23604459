package front

import (
	"errors"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// place is the place of a request among those in progress. The zero place means none.
type place struct {
	of *budget
	by sender
}

// give gives the place back.
func (p *place) give() {
	if p.of != nil {
		p.of.giveOf(p.by, 1)
	}
}

// Shares of Limits.Requests. An account alone gets four of five of the places for accounts, so they are a quarter more:
// connections of HTTP/1.1, with one request each, never lack places because they belong to one account.
func placesForAccounts(l *Limits) int64  { return int64(l.Requests) + int64(l.Requests)/4 }
func placesForStrangers(l *Limits) int64 { return int64(l.Requests) / 4 }

// enter takes a place among those of strangers, which their addresses share. If there is none, a request that names a
// known access key takes one of its account, whose addresses share them, too: any client may know the id of a key.
func (x *request) enter() error {
	if x.relayed { // the relaying node has counted it
		return nil
	}
	address := network(x.sourceIP)
	if x.sit(x.front.strangers, sender{address, address}, false) {
		return nil
	}
	x.intake.unread = x.r.ContentLength != 0
	if err := x.intake.judge(); err != nil {
		return err
	}
	if !x.intake.named || !x.sit(x.front.requests, x.intake.sender, true) {
		return errors.Join(protocol.ServiceUnavailable(), errOverload)
	}
	x.intake.unread = false
	return nil
}

// settle moves the request from the places of strangers to those of the account that has signed it.
func (x *request) settle() error {
	was, account := x.place, x.who.caller.Account
	if was.of != x.front.strangers || account == "" {
		return nil
	}
	if !x.sit(x.front.requests, sender{account, was.by.address}, false) {
		return errors.Join(protocol.ServiceUnavailable(), errOverload)
	}
	was.give()
	return nil
}

// sit takes a place, if it is fair to the others that share them. Shared means that the addresses of an account do.
func (x *request) sit(of *budget, by sender, shared bool) bool {
	if !of.tryFor(&claim{n: 1, rank: growing, by: by, large: shared}) {
		return false
	}
	x.place = place{of, by}
	return true
}
