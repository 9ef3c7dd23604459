package sns

import (
	"context"
	_ "embed" // model.txt
	"errors"
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/envelope"
	"github.com/sluicemq/sluice/internal/topic/preferences"
)

//go:embed model.txt
var model string

// Messages is the service's view of the keyspace with the queues.
type Messages interface {
	// Publish accepts publications with all of their copies, or none of them.
	Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error)
}

// Options configures a service.
type Options struct {
	Topics      *topic.Topics
	Preferences *preferences.Preferences // of accounts, for text messages
	Catalog     *catalog.Catalog
	Messages    Messages
	Access      *access.Decider // nil: there are only root and anonymous callers
	// QueueRules holds the rules of the service whose queues subscribe.
	QueueRules *policy.Rules
	// IDOf returns the unique id of a user or role by its ARN. A nil IDOf knows none.
	IDOf func(arn string) (id string, ok bool)
	Now  func() time.Time // nil means time.Now
	// CatchUp returns when this node knows every change made before the call. A nil CatchUp returns at once.
	CatchUp func(context.Context) error
	// Endpoint returns a URL of the server for clients. URLs in messages begin with it.
	Endpoint func() string
	// Signer returns the signer of topics' messages for a signature version; its certificate is below the URL base.
	Signer func(version, base string) (envelope.Signer, error)
	// CheckEndpoint returns an error if an endpoint that is not a queue cannot receive messages. A nil CheckEndpoint
	// means that the server delivers only to queues.
	CheckEndpoint func(protocol, endpoint string) error
	// Counting reports whether events of topics are counted. A nil Counting means that they are not.
	Counting func() bool
	// Tenants holds the limits of accounts and users. Nil means no limits.
	Tenants *tenant.Tenants
	// CheckKey returns why messages cannot be encrypted under the key of this name. A nil CheckKey means that they can,
	// or need not.
	CheckKey func(name string) error
	// Keys decides who may use the encryption keys of topics. Nil allows everything.
	Keys *service.KeyAccess
	// CheckPhones returns an error while some node of a cluster does not know that phones subscribe, and would drop
	// their messages. A nil CheckPhones means that all know it.
	CheckPhones func() error
	// Room is called before data is added. See sqs.Options.
	Room func() error
	Log  *slog.Logger // nil means that nothing is logged
}

// Service publishes for other services of this server, delivers waiting messages to endpoints, and handles ended
// subscriptions.
type Service struct {
	*publisher
	*targets
	*endings
}

// core is the common part of the objects that serve the operations.
type core struct {
	topics     *topic.Topics
	authorizer *service.Authorizer
	now        func() time.Time
	room       func() error
	log        *slog.Logger
}

// New returns the service, which other services of this server use to publish, and its wire form.
func New(o Options) (*Service, *protocol.Service) {
	o.setDefaults()
	c := &core{topics: o.Topics, authorizer: service.NewAuthorizer(o.Access, Rules, o.Now), room: o.Room, log: o.Log}
	c.now = c.authorizer.Now
	if o.Access == nil {
		o.Access = access.New(nil)
	}
	q := &quotas{topics: o.Topics, tenants: o.Tenants}
	l := &links{endpoint: o.Endpoint, signers: o.Signer}
	g := &gate{queues: o.Catalog, access: o.Access, rules: o.QueueRules, checkKey: o.CheckKey, now: c.now}
	confirmations := &confirmations{
		core: c, quotas: q, links: l, gate: g, messages: o.Messages, asked: newInvitations(),
	}
	s := &Service{
		publisher: &publisher{
			core: c, links: l, gate: g, messages: o.Messages, access: o.Access, keys: o.Keys, tenants: o.Tenants,
			counting: o.Counting, catchUp: o.CatchUp, filtering: newFiltering(),
		},
		targets: &targets{core: c, gate: g, messages: o.Messages, catchUp: o.CatchUp, tenants: o.Tenants},
		endings: &endings{c, l, confirmations},
	}
	wire := protocol.NewService(protocol.Service{
		Name: "sns", Versions: []string{"2010-03-31"}, Namespace: "http://sns.amazonaws.com/doc/%s/",
		ErrorNamespace: "com.amazonaws.sns", Framework: true, Model: model, TooLong: errTooLong,
	})
	(&topics{core: c, quotas: q, idOf: o.IDOf}).register(wire)
	permissions{c}.register(wire)
	tagged{c}.register(wire)
	protections{c}.register(wire)
	(&subscriptions{
		core: c, quotas: q, confirmations: confirmations, endings: s.endings, endpoints: o.CheckEndpoint,
		phones: o.CheckPhones,
	}).register(wire)
	confirmations.register(wire)
	s.publisher.register(wire)
	(&phones{core: c, preferences: o.Preferences}).register(wire)
	platforms{c}.register(wire)
	wire.Unsupported(unsupported...)
	return s, wire
}

// setDefaults replaces missing options by the defaults in their comments.
func (o *Options) setDefaults() {
	if o.IDOf == nil {
		o.IDOf = func(string) (string, bool) { return "", false }
	}
	if o.CatchUp == nil {
		o.CatchUp = func(context.Context) error { return nil }
	}
	if o.Endpoint == nil {
		o.Endpoint = func() string { return "" }
	}
	if o.Signer == nil {
		o.Signer = func(string, string) (envelope.Signer, error) { return nil, errNoSigner }
	}
	if o.CheckEndpoint == nil {
		o.CheckEndpoint = func(protocol, _ string) error {
			return errors.New("this server delivers to queues only, and not by " + protocol)
		}
	}
	if o.Counting == nil {
		o.Counting = func() bool { return false }
	}
	if o.CheckKey == nil {
		o.CheckKey = func(string) error { return nil }
	}
	if o.CheckPhones == nil {
		o.CheckPhones = func() error { return nil }
	}
	if o.Room == nil {
		o.Room = func() error { return nil }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// change makes a change of the records.
func (s *core) change(ctx context.Context, f func(*topic.Tx) error) error {
	return failure(s.topics.Change(ctx, f))
}

// updateTopic changes the record of a topic.
func (s *core) updateTopic(ctx context.Context, t *topic.Topic, change func(*topic.Topic) error) error {
	return s.change(ctx, func(tx *topic.Tx) error {
		_, err := tx.Update(t, change)
		return err
	})
}

// checkRoom refuses a request that would add data when there is no room for it.
func (s *core) checkRoom() error {
	if err := s.room(); err != nil {
		return service.NoRoom(err)
	}
	return nil
}

// mostPerPage is the maximum number of topics or subscriptions in a page of a list.
const mostPerPage = 100

// paginate returns the page of a list, sorted by key, that follows the token; see service.Seek.
func paginate[T any](
	read func(after string, most int) []T, key func(T) string, token *string, about string,
) (service.Page[T], error) {
	after := ""
	if token != nil {
		after = *token
	}
	p, err := service.Seek(read, key, after, about, mostPerPage)
	if errors.Is(err, service.ErrToken) || errors.Is(err, service.ErrOtherList) {
		return service.Page[T]{}, errParameter("NextToken")
	}
	return p, err
}
