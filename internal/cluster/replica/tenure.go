package replica

import (
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// tenure is the lease of a shard while this node holds it, and the ownership whose answers from memory it covers.
//
//   - A lease without an ownership belongs to a candidate. An ownership without a lease stays one, because only the log
//     can depose an owner. The tenure then tries to take the lease again.
//   - The lease alone proves nothing. The ownership is extended only after the log has a record that the owner appended
//     while it held this very lease.
//   - A lease lasts from the request for it or for its renewal, not from the answer.
type tenure struct {
	*base
	lease     sharedlog.Lease // nil if this node does not hold it
	until     time.Time       // the lease lasts at least until then
	proven    bool            // a record of this owner was appended to the log while it held this lease
	ownership *Ownership      // nil if this node is not the owner
	renewing  uint64          // ticket of the current renewal, or 0
	retaking  uint64          // ticket of the take with which an owner tries to regain a lost lease, or 0
	sent      time.Time       // when the last take or renewal was sent
	renew     time.Time       // when the next one is due
	releasing map[uint64]bool // tickets of the current releases
}

// take requests the lease, and returns the ticket.
func (t *tenure) take() uint64 {
	ticket := t.newTicket()
	t.sent = t.now
	t.effects.take(ticket)
	return ticket
}

// begin records that a candidate has got the lease.
func (t *tenure) begin(l sharedlog.Lease) {
	t.lease, t.until = l, t.sent.Add(t.ttl)
	t.renewing, t.renew = 0, aligned(t.sent, t.ttl/3)
}

// own records that the log has the claim with which the holder of the lease becomes the owner.
func (t *tenure) own(o *Ownership) {
	t.ownership, t.proven = o, true
	t.extend()
	t.renew = t.now // so that the lease shows the epoch
}

// retaken receives the lease that an owner had lost, or the reason for a refusal. After a refusal the owner tries
// again: the node that holds the lease now either claims the shard, and so deposes this one, or lets the lease expire.
//
// Meanwhile another node may have held the lease, claimed the shard, and died or handed it over. So the lease alone
// does not prove the ownership: the log must also contain a record that this owner appended while it held the lease;
// see prove. Until then Ownership.Confirm appends one.
func (t *tenure) retaken(l sharedlog.Lease, err error) {
	t.retaking = 0
	if err != nil {
		t.renew = t.now.Add(t.again)
		return
	}
	t.lease, t.until, t.proven = l, t.sent.Add(t.ttl), false
	t.renew = t.now // so that the lease shows the epoch
}

// prove records that the log has a record that the owner appended while it held a lease.
func (t *tenure) prove(held sharedlog.Lease) {
	if held != nil && held == t.lease && !t.proven {
		t.proven = true
		t.extend()
	}
}

// extend lets the owner answer from memory until shortly before the end of its lease.
func (t *tenure) extend() {
	if t.ownership != nil && t.proven {
		t.ownership.extend(t.sent, t.until.Add(-t.margin))
	}
}

// renewIfDue renews the lease, or, if an owner has lost it, takes it again.
func (t *tenure) renewIfDue() {
	switch {
	case !t.isDue(t.renew):
	case t.lease != nil && t.renewing == 0:
		t.renewing, t.sent = t.newTicket(), t.now
		t.effects.renew(t.renewing, t.lease, t.epoch())
	case t.lease == nil && t.ownership != nil && t.retaking == 0:
		t.retaking = t.take()
	}
}

// epoch returns the epoch to show in the lease; 0 before the claim.
func (t *tenure) epoch() uint64 {
	if t.ownership == nil {
		return 0
	}
	return t.ownership.epoch
}

// renewed receives whether the lease was extended.
func (t *tenure) renewed(err error) {
	t.renewing = 0
	switch {
	case err == nil:
		t.until = t.sent.Add(t.ttl)
		t.renew = aligned(t.sent, t.ttl/3)
		t.extend()
	case errors.Is(err, sharedlog.ErrLost):
		// The leases may just have been unavailable for too long.
		t.lease = nil
		t.renew = t.now
	default:
		t.renew = t.now.Add(t.again)
	}
}

// runsOut returns when a candidate must no longer rely on the lease, or zero for an owner and without a lease.
func (t *tenure) runsOut() time.Time {
	if t.lease == nil || t.ownership != nil {
		return time.Time{}
	}
	return t.until.Add(-t.margin)
}

// forget gives up the lease without giving it back, because it may have run out.
func (t *tenure) forget() { t.lease, t.renewing = nil, 0 }

// end ends the ownership.
func (t *tenure) end(reason error) {
	if t.ownership != nil {
		t.ownership.end(reason)
		t.ownership = nil
	}
}

// resign gives back the lease, if this node holds it, and no longer tries to regain it.
func (t *tenure) resign() {
	t.retaking = 0
	if l := t.lease; l != nil {
		t.forget()
		t.giveBack(l)
	}
}

// giveBack releases a lease, which may have run out already.
func (t *tenure) giveBack(l sharedlog.Lease) {
	ticket := t.newTicket()
	t.releasing[ticket] = true
	t.effects.release(ticket, l)
}

// next returns when a renewal or a take is due, or zero.
func (t *tenure) next() time.Time {
	if t.lease != nil && t.renewing == 0 || t.lease == nil && t.ownership != nil && t.retaking == 0 {
		return t.renew
	}
	return time.Time{}
}
