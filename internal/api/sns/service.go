package sns

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
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
	Access      *access.Decider // nil means that there are only roots and anonymous callers
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
	// Tenants holds the limits of accounts and users. Nil means that there are none.
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

// Service is the SNS service.
type Service struct {
	topics      *topic.Topics
	preferences *preferences.Preferences
	queues      *catalog.Catalog
	messages    Messages
	access      *access.Decider
	authorizer  *service.Authorizer
	queueRules  *policy.Rules
	idOf        func(arn string) (id string, ok bool)
	now         func() time.Time
	catchUp     func(context.Context) error
	endpoint    func() string
	signers     func(version, base string) (envelope.Signer, error)
	endpoints   func(protocol, endpoint string) error
	counting    func() bool
	room        func() error
	checkKey    func(name string) error
	phones      func() error
	keys        *service.KeyAccess
	tenants     *tenant.Tenants
	log         *slog.Logger

	lastWarning atomic.Int64 // in Unix seconds; see warnOfRefusal
}

// New returns the service, which other services of this server use to publish, and its wire form.
func New(o Options) (*Service, *protocol.Service) {
	s := &Service{
		topics: o.Topics, preferences: o.Preferences, queues: o.Catalog, messages: o.Messages, access: o.Access, queueRules: o.QueueRules,
		idOf:       o.IDOf,
		authorizer: service.NewAuthorizer(o.Access, Rules, o.Now), catchUp: o.CatchUp, endpoint: o.Endpoint,
		signers:   o.Signer,
		endpoints: o.CheckEndpoint, counting: o.Counting, room: o.Room, checkKey: o.CheckKey, keys: o.Keys,
		phones:  o.CheckPhones,
		tenants: o.Tenants, log: o.Log,
	}
	s.now = s.authorizer.Now
	if s.access == nil {
		s.access = access.New(nil)
	}
	if s.idOf == nil {
		s.idOf = func(string) (string, bool) { return "", false }
	}
	if s.catchUp == nil {
		s.catchUp = func(context.Context) error { return nil }
	}
	if s.endpoint == nil {
		s.endpoint = func() string { return "" }
	}
	if s.signers == nil {
		s.signers = func(string, string) (envelope.Signer, error) { return nil, errNoSigner }
	}
	if s.endpoints == nil {
		s.endpoints = func(protocol, _ string) error {
			return errors.New("this server delivers to queues only, and not by " + protocol)
		}
	}
	if s.counting == nil {
		s.counting = func() bool { return false }
	}
	if s.checkKey == nil {
		s.checkKey = func(string) error { return nil }
	}
	if s.phones == nil {
		s.phones = func() error { return nil }
	}
	if s.room == nil {
		s.room = func() error { return nil }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	wire := protocol.NewService(protocol.Service{
		Name: "sns", Versions: []string{"2010-03-31"}, Namespace: "http://sns.amazonaws.com/doc/%s/",
		ErrorNamespace: "com.amazonaws.sns", TooLong: errTooLong,
	})
	protocol.Register(wire, "AddPermission", s.addPermission, protocol.Control)
	protocol.Register(wire, "ConfirmSubscription", s.confirmSubscription, protocol.Control, protocol.Unsigned)
	protocol.Register(wire, "CreateTopic", s.createTopic, protocol.Control)
	protocol.Register(wire, "DeleteTopic", s.deleteTopic, protocol.Control)
	protocol.Register(wire, "GetDataProtectionPolicy", s.getDataProtectionPolicy)
	protocol.Register(wire, "GetSubscriptionAttributes", s.getSubscriptionAttributes)
	protocol.Register(wire, "GetTopicAttributes", s.getTopicAttributes)
	protocol.Register(wire, "ListSubscriptions", s.listSubscriptions)
	protocol.Register(wire, "ListSubscriptionsByTopic", s.listSubscriptionsByTopic)
	protocol.Register(wire, "ListTagsForResource", s.listTagsForResource)
	protocol.Register(wire, "ListTopics", s.listTopics)
	protocol.Register(wire, "Publish", s.publish, protocol.Data)
	protocol.Register(wire, "PublishBatch", s.publishBatch, protocol.Data)
	protocol.Register(wire, "PutDataProtectionPolicy", s.putDataProtectionPolicy, protocol.Control)
	protocol.Register(wire, "RemovePermission", s.removePermission, protocol.Control)
	protocol.Register(wire, "SetSubscriptionAttributes", s.setSubscriptionAttributes, protocol.Control)
	protocol.Register(wire, "SetTopicAttributes", s.setTopicAttributes, protocol.Control)
	protocol.Register(wire, "Subscribe", s.subscribe, protocol.Control)
	protocol.Register(wire, "TagResource", s.tagResource, protocol.Control, protocol.EmptyResult)
	protocol.Register(wire, "Unsubscribe", s.unsubscribe, protocol.Control, protocol.Unsigned)
	protocol.Register(wire, "UntagResource", s.untagResource, protocol.Control, protocol.EmptyResult)
	s.registerPhones(wire)
	wire.Unsupported(unsupported...)
	return s, wire
}

var errNoSigner = errors.New("there is nothing to sign messages with")

// signer returns the signer of a topic's messages.
func (s *Service) signer(t *topic.Topic) (envelope.Signer, error) {
	return s.signers(t.Attributes.SignatureVersion, s.base())
}

// change makes a change of the records.
func (s *Service) change(ctx context.Context, f func(*topic.Tx) error) error {
	return failure(s.topics.Change(ctx, f))
}

// checkRoom refuses a request that would add data when there is no room for it.
func (s *Service) checkRoom() error {
	if err := s.room(); err != nil {
		return service.NoRoom(err)
	}
	return nil
}

// mostPerPage is the maximum number of topics or subscriptions in a page of a list.
const mostPerPage = 100

// paginate returns the page of all, which is sorted by key, that follows the token.
func paginate[T any](all []T, key func(T) string, token *string, about string) (service.Page[T], error) {
	after := ""
	if token != nil {
		after = *token
	}
	p, err := service.Paginate(all, key, after, about, mostPerPage)
	if errors.Is(err, service.ErrToken) || errors.Is(err, service.ErrOtherList) {
		return service.Page[T]{}, errParameter("NextToken")
	}
	return p, err
}

// base returns the beginning of the URLs in a message.
func (s *Service) base() string { return strings.TrimRight(s.endpoint(), "/") }
