package sqs

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
)

// payer returns the tenant whose rates a call uses: the caller or, for an unsigned call, the queue's account.
func payer(c *protocol.Call, q *catalog.Queue) tenant.Subject {
	if service.Anonymous(c) {
		return tenant.Subject{Account: q.Name.Account}
	}
	id := service.Caller(c)
	return service.Tenant(&id)
}

// take counts messages against a rate of the caller.
func (s *Service) take(c *protocol.Call, q *catalog.Queue, k tenant.Kind, n int) error {
	if !s.tenants.Any() {
		return nil
	}
	if err := s.tenants.Take(payer(c, q), k, n); err != nil {
		return errors.Join(errThrottled(), err)
	}
	return nil
}

// takeReceived counts the received messages beyond the one that was counted in advance.
func (s *Service) takeReceived(c *protocol.Call, q *catalog.Queue, messages int) {
	if messages > 1 && s.tenants.Any() {
		s.tenants.TakeMore(payer(c, q), tenant.Receives, messages-1)
	}
}

// send sends messages, if the caller's rate allows it, and the account of the queue may store them.
func (s *Service) send(
	ctx context.Context, c *protocol.Call, q *catalog.Queue, messages []queue.Outgoing,
) ([]queue.Sent, error) {
	if err := s.useKey(c, q, service.ToEncrypt); err != nil {
		return nil, err
	}
	if err := s.room.check(); err != nil {
		return nil, err
	}
	if err := s.take(c, q, tenant.Sends, len(messages)); err != nil {
		return nil, err
	}
	var entry tenant.Entry
	if s.tenants.Any() {
		var err error
		if entry, err = s.tenants.Store(ctx, q.Name.Account, amount(messages)); err != nil {
			return nil, errStored(err)
		}
	}
	sent, err := s.shard.Send(ctx, q.ID, messages)
	entry.End(true) // even if that is unknown
	if err != nil {
		return nil, failure(err, q)
	}
	return sent, nil
}

// amount returns the storage that messages need.
func amount(messages []queue.Outgoing) tenant.Amount {
	a := tenant.Amount{Messages: int64(len(messages))}
	for i := range messages {
		a.Bytes += int64(messages[i].Size()) + queue.RecordBytes
	}
	return a
}

// errStored refuses messages beyond an account's storage.
func errStored(err error) error {
	r, ok := errors.AsType[*tenant.Refusal](err)
	if !ok {
		return err
	}
	e := errOverLimit("The account stores as much as it may: it has a limit of %d %s. "+
		"Delete messages before you send others.", r.Limit, r.Kind.Unit())
	e.Final = true
	return errors.Join(e, err)
}
