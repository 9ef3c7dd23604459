package server

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/email"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// openTopics reads the topics from the control store.
func (s *Server) openTopics() (err error) {
	s.topics, err = topic.Open(topic.Options{Control: s.control, Formats: s.formats(), Prepare: s.signing.Ensure})
	return err
}

// newSNS makes the SNS service, from which the deliverer learns what to do.
func (s *Server) newSNS(queues *catalog.Catalog, permissions *access.Decider) *protocol.Service {
	publisher, wire := sns.New(sns.Options{
		Topics: s.topics, Catalog: queues, Messages: s.messages, Access: permissions, QueueRules: sqs.Rules,
		IDOf: s.directory.ID, Now: s.config.Now, CatchUp: s.node.CatchUp, Endpoint: s.Endpoint, Room: s.room, Tenants: s.tenants.Load(), Log: s.log,
		CheckEndpoint: s.deliverer.Check, Counting: s.countsTopics,
		Signer: func(version, base string) (envelope.Signer, error) {
			return s.signing.Signer(version, base, s.config.Now())
		},
	})
	s.publisher = publisher
	return wire
}

// newDeliverer makes what brings messages of topics to endpoints.
func (s *Server) newDeliverer() (*delivery.Deliverer, error) {
	web := delivery.NewHTTP(s.egress)
	senders := map[string]delivery.Sender{string(topic.HTTP): web, string(topic.HTTPS): web}
	if s.config.Mail.Server != "" {
		relay, err := email.NewRelay(s.config.Mail)
		if err != nil {
			return nil, err
		}
		senders[string(topic.Email)], senders[string(topic.EmailJSON)] = relay, relay
	}
	return delivery.New(delivery.Options{
		Senders: senders,
		Find:    func(id queue.ID) (delivery.Target, bool) { return s.publisher.Target(id) },
		DeadLetter: func(ctx context.Context, id queue.ID, m *queue.Message) (lost, err error) {
			return s.publisher.DeadLetter(ctx, id, m)
		},
		Counting: s.countsTopics, Now: s.config.Now, Log: s.log,
	}), nil
}

// countsTopics reports whether what happens in topics is counted: it is to be, and all nodes can. Where it has begun, it goes on.
func (s *Server) countsTopics() bool {
	switch {
	case s.config.Keep.Minutes == 0:
		return false
	case s.topicsCounted.Load():
		return true
	}
	counted := s.node.Reads(formats.TopicSeries) == nil
	if !counted && !s.config.InMemory {
		have, err := datadir.ReadFormat(s.config.Data)
		counted = err == nil && have.Number >= formats.TopicSeries
	}
	s.topicsCounted.Store(counted)
	return counted
}

// deliver brings messages of topics from a shard to endpoints, from when the server is ready until ctx ends.
func (s *Server) deliver(ctx context.Context, from *shard.Shard) {
	select {
	case <-s.prepared:
	case <-ctx.Done():
		return
	}
	if err := s.deliverer.Run(ctx, from); err != nil && ctx.Err() == nil && !errors.Is(err, shard.ErrUnavailable) {
		s.log.Error("messages of topics are not delivered to endpoints any more", "error", err)
	}
}
