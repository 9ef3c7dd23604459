package sns

import (
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic"
)

// take takes messages off the caller's rate of sends or, if the call is not signed, off the rate of the topic's
// account. The copies for subscriptions do not count.
func (s *Service) take(c *protocol.Call, t *topic.Topic, messages int) error {
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

// entries are what accounts were let in to store.
type entries []tenant.Entry

// end says whether that is stored. Where it is not known, it may be.
func (all entries) end(mayBe bool) {
	for i := range all {
		all[i].End(mayBe)
	}
}

// store lets the account of a queue store one more message of that size, or returns why not.
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

// isFull reports whether a copy was refused because an account may store no more. To ask what has changed on other
// nodes is of no use then.
func (r *refusedCopy) isFull() bool {
	_, full := errors.AsType[*tenant.Refusal](r.why)
	return full
}

// isFullOf reports whether it was the account of the topic that may store no more. Its publishers are refused then,
// and no message is lost. Those of other accounts have no part in it.
func (r *refusedCopy) isFullOf(account string) bool {
	full, ok := errors.AsType[*tenant.Refusal](r.why)
	return ok && full.Account == account
}

// checkTopics refuses one more topic where an account has as many as it may.
func (s *Service) checkTopics(account string) error {
	most, limited := s.tenants.Limit(account, tenant.Topics)
	if !limited || int64(s.topics.Count(account, func(*topic.Topic) bool { return true })) < most {
		return nil
	}
	e := errTopicLimit("The account has as many topics as it can have, %d.", most)
	return errors.Join(e, s.tenants.Refuse(account, tenant.Topics))
}

// checkSubscriptions refuses one more subscription where an account has as many as it may.
func (s *Service) checkSubscriptions(account string) error {
	most, limited := s.tenants.Limit(account, tenant.Subscriptions)
	if !limited || int64(s.topics.CountSubscriptions(account)) < most {
		return nil
	}
	e := errSubscriptionLimit("The account has as many subscriptions as it can have, %d.", most)
	return errors.Join(e, s.tenants.Refuse(account, tenant.Subscriptions))
}

// ended ends the entries of plans that are given up.
func ended(plans []*plan) {
	for _, p := range plans {
		p.entries.end(false)
	}
}
