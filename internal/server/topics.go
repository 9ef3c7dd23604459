package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/egress"
	"github.com/sluicemq/sluice/internal/topic/email"
	"github.com/sluicemq/sluice/internal/topic/envelope"
	"github.com/sluicemq/sluice/internal/topic/preferences"
	"github.com/sluicemq/sluice/internal/topic/signing"
)

// topics is the wing of topics: their records, the keys that sign their messages, and delivery to endpoints.
type topics struct {
	config    *Config
	log       *slog.Logger
	prepared  <-chan struct{} // closed with the server
	egress    *egress.Rules   // where the server may connect to for its users
	deliverer *delivery.Deliverer
	counted   atomic.Bool // see counts

	storage   *storage // nil until open
	signing   *signing.Keys
	records   *topic.Topics
	texting   *preferences.Preferences // for text messages
	publisher *sns.Service             // nil until newSNS
}

// newTopics prepares delivery to endpoints, which begins when the server is prepared.
func newTopics(c *Config, prepared <-chan struct{}) (_ *topics, err error) {
	t := &topics{config: c, log: notRepeated(c.Logger), prepared: prepared}
	if t.egress, err = egress.Parse(c.EgressAllow); err != nil {
		return nil, err
	}
	t.deliverer, err = t.newDeliverer()
	return t, err
}

// newDeliverer creates the object that delivers messages of topics to endpoints.
func (t *topics) newDeliverer() (*delivery.Deliverer, error) {
	web := delivery.NewHTTP(t.egress)
	mail, err := t.newMailSender()
	if err != nil {
		return nil, err
	}
	return delivery.New(delivery.Options{
		Senders: map[string]delivery.Sender{
			string(topic.HTTP): web, string(topic.HTTPS): web, string(topic.Email): mail, string(topic.EmailJSON): mail,
		},
		Find: func(id queue.ID) (delivery.Target, bool) { return t.publisher.Target(id) },
		DeadLetter: func(ctx context.Context, id queue.ID, m *queue.Message) (lost, err error) {
			return t.publisher.DeadLetter(ctx, id, m)
		},
		Counting: t.counts, Now: t.config.Now, Log: t.log,
	}), nil
}

func (t *topics) newMailSender() (delivery.Sender, error) {
	if t.config.Mail.Server == "" {
		return &email.NoRelay{Log: t.log, Now: t.config.Now}, nil
	}
	return email.NewRelay(t.config.Mail)
}

// open reads the topics, the keys that sign their messages, and preferences from the control store.
func (t *topics) open(st *storage, vault *identity.Vault) (err error) {
	t.storage = st
	if t.signing, err = signing.Open(st.control, vault); err != nil {
		return err
	}
	if t.texting, err = preferences.Open(st.control, st.formats()); err != nil {
		return err
	}
	t.records, err = topic.Open(topic.Options{
		Control: st.control, Formats: st.formats(), Prepare: t.signing.Ensure,
	})
	return err
}

// newSNS creates the SNS service, which also notifies the deliverer of changed subscriptions. endpoint is the server's
// URL for clients.
func (t *topics) newSNS(a *accounts, secrets *secrecy, endpoint func() string) *protocol.Service {
	st := t.storage
	publisher, wire := sns.New(sns.Options{
		Topics: t.records, Preferences: t.texting, Catalog: st.catalog.Load(), Messages: st.messages,
		Access:     a.permissions,
		QueueRules: sqs.Rules,
		IDOf:       a.directory.ID, Now: t.config.Now, CatchUp: st.node.CatchUp, Endpoint: endpoint, Room: st.room,
		Tenants: a.tenants, Log: t.log, CheckEndpoint: t.deliverer.Check, Counting: t.counts,
		CheckKey: secrets.check, Keys: secrets.access(a),
		CheckPhones: func() error { return st.ready(formats.Preferences) },
		Signer: func(version, base string) (envelope.Signer, error) {
			return t.signing.Signer(version, base, t.config.Now())
		},
	})
	t.publisher = publisher
	return wire
}

// counts reports whether events of topics are counted: counting must be configured, and all nodes must support it. Once
// begun, it continues.
func (t *topics) counts() bool {
	switch {
	case t.config.Keep.Minutes == 0:
		return false
	case t.counted.Load():
		return true
	}
	counted := t.storage.node.Reads(formats.TopicSeries) == nil
	if !counted && !t.config.InMemory {
		have, err := datadir.ReadFormat(t.config.Data)
		counted = err == nil && have.Number >= formats.TopicSeries
	}
	t.counted.Store(counted)
	return counted
}

// deliver delivers messages of topics from a shard to endpoints, from the time the server is prepared until ctx ends.
func (t *topics) deliver(ctx context.Context, from delivery.Source) {
	select {
	case <-t.prepared:
	case <-ctx.Done():
		return
	}
	if err := t.deliverer.Run(ctx, from); err != nil && ctx.Err() == nil && !errors.Is(err, shard.ErrUnavailable) {
		t.log.Error("messages of topics are not delivered to endpoints any more", "error", err)
	}
}

// standings returns the counters on this machine of the existing topics.
func (t *topics) standings(ctx context.Context) ([]queue.TopicStanding, error) {
	all, err := t.storage.messages.TopicStandings(ctx)
	return slices.DeleteFunc(all, func(s queue.TopicStanding) bool {
		name, err := topic.ParseARN(s.ARN)
		return err != nil || t.records.Find(name) == nil
	}), err
}

// measure adds the metrics of deliveries to endpoints.
func (t *topics) measure(m *prom.Metrics) {
	m.Deliveries(func() []prom.Delivery {
		return service.Convert(t.deliverer.Counts(), func(c delivery.Count) prom.Delivery {
			return prom.Delivery{Protocol: c.Protocol, Outcome: c.Outcome.String(), Number: c.Number}
		})
	}, t.deliverer.Sending)
}

// Run removes ended subscriptions, and rotates the keys that sign messages, until ctx ends.
func (t *topics) Run(ctx context.Context) error {
	rotation := signing.Rotation{Keys: t.signing, Control: t.storage.control, Now: t.config.Now, Log: t.log}
	var loops sync.WaitGroup
	loops.Go(func() { t.publisher.Run(ctx, t.storage.isOwner) })
	loops.Go(func() { rotation.Run(ctx) })
	loops.Wait()
	return nil
}
