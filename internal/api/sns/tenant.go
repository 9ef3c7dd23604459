package sns

import (
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic"
)

// take counts messages against the caller's rate of sends or, for an unsigned call, against the rate of the topic's
// account. The copies for subscriptions do not count.
func (s *publisher) take(c *protocol.Call, t *topic.Topic, messages int) error {
	if !s.tenants.Any() {
		return nil
	}
	id := service.Caller(c)
	who := service.Tenant(&id)
	if service.Anonymous(c) {
		who.Account = t.Name.Account
	}
	if err := s.tenants.Take(who, tenant.Sends, messages); err != nil {
		return errors.Join(protocol.Throttled(), err)
	}
	return nil
}

// entries are the storage reservations of accounts.
type entries []tenant.Entry

// end ends the reservations, with the bytes that were, or may have been, stored.
func (all entries) end(mayBe bool) {
	for i := range all {
		all[i].End(mayBe)
	}
}

// store reserves storage for one more message of that size in the account of a queue, or returns why it cannot.
func (pl *planner) store(p *plan, account string, size int) error {
	one := tenant.Amount{Messages: 1, Bytes: int64(size) + queue.RecordBytes}
	e, err := pl.tenants.Store(pl.ctx, account, one)
	if err != nil {
		return err
	}
	if e != (tenant.Entry{}) {
		p.entries = append(p.entries, e)
	}
	return nil
}

// isFull reports whether a copy was refused because an account may store no more. Catching up with other nodes is then
// useless.
func (r *refusedCopy) isFull() bool {
	_, full := errors.AsType[*tenant.Refusal](r.why)
	return full
}

// isFullOf reports whether that is the account of the topic. Its publishers are then refused, and no message is lost.
// Those of other accounts are not affected.
func (r *refusedCopy) isFullOf(account string) bool {
	full, ok := errors.AsType[*tenant.Refusal](r.why)
	return ok && full.Account == account
}

// ended ends the reservations of abandoned plans.
func ended(plans []*plan) {
	for _, p := range plans {
		p.entries.end(false)
	}
}
