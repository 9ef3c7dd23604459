package sns

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// confirmations asks endpoints whether they agree to a subscription, and serves the operation by which they agree.
type confirmations struct {
	*core
	quotas   *quotas
	links    *links
	gate     *gate
	messages Messages
	asked    *invitations
}

func (s *confirmations) register(wire *protocol.Service) {
	protocol.Register(wire, "ConfirmSubscription", s.confirmSubscription, protocol.Control, protocol.Unsigned)
}

// tokenLifetime is how long an endpoint can confirm its subscription.
const tokenLifetime = 48 * time.Hour

// A token consists of the id of the subscription and a secret, in hexadecimal digits; the record has a hash of the
// token.
const (
	tokenIDDigits = 32
	tokenDigits   = tokenIDDigits + 64
)

// renewToken gives a subscription a new token, with which it can be confirmed. If its endpoint was asked enough, it
// keeps the token that it has, or gets one that is not sent.
func (s *confirmations) renewToken(tx *topic.Tx, sub *topic.Subscription) subscribed {
	now := s.now()
	mayAsk := s.asked.mayAsk(sub, now)
	if !mayAsk && sub.Confirmation != nil {
		return subscribed{sub, ""}
	}
	token, confirmation := newToken(sub, now)
	renewed := tx.Renew(sub, confirmation)
	if !mayAsk {
		token = ""
	}
	return subscribed{renewed, token}
}

// newToken returns a token that confirms a subscription, and its form for the record.
func newToken(sub *topic.Subscription, now time.Time) (token string, c topic.Confirmation) {
	secret := make([]byte, sha256.Size)
	rand.Read(secret)
	token = strings.ReplaceAll(sub.ID, "-", "") + hex.EncodeToString(secret)
	return token, topic.Confirmation{Token: hashToken(token), Expires: now.Add(tokenLifetime)}
}

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// askToConfirm sends the token to the endpoint. If that fails, the client subscribes once more.
func (s *confirmations) askToConfirm(ctx context.Context, sub *topic.Subscription, token string) {
	if err := s.sendToken(ctx, sub, envelope.TypeSubscribe, token); err != nil && !saysGone(err) {
		s.log.Warn("an endpoint was not asked to confirm its subscription", "subscription", sub.ARN(), "error", err)
	}
}

// sendToken sends a message of the given type with a token to the endpoint of a subscription.
func (s *confirmations) sendToken(ctx context.Context, sub *topic.Subscription, messageType, token string) error {
	t := s.topics.Find(sub.Topic)
	if t == nil {
		return errNoTopic()
	}
	id := queue.MessageID(uuid.New())
	request := envelope.Confirmation{
		Type: messageType, ID: id.String(), Token: token, TopicARN: sub.Topic.ARN(), SubscriptionARN: sub.ARN(),
		Time:         s.now(),
		SubscribeURL: s.links.subscribeURL(sub, token),
	}
	signer, err := s.links.signer(t)
	if err != nil {
		return err
	}
	body, err := request.JSON(signer)
	if err != nil {
		return err
	}
	return s.sendConfirmation(ctx, t, sub, id, &request, body)
}

// sendConfirmation sends a request to confirm a subscription to its endpoint.
func (s *confirmations) sendConfirmation(
	ctx context.Context, t *topic.Topic, sub *topic.Subscription, id queue.MessageID, request *envelope.Confirmation,
	body string,
) error {
	to, message := sub.Queue, outgoing(body)
	if sub.Protocol == topic.SQS {
		q, err := s.gate.queueFor(t, sub.Endpoint)
		if err != nil {
			return err
		}
		to = q.ID
	} else {
		if sub.Protocol == topic.Email {
			body = request.Message()
		}
		message = delivery.Note{Type: request.Type, Link: request.SubscribeURL}.Outgoing(id, body)
	}
	if toFIFO(sub) {
		message.Group, message.Dedup = sub.ID, message.ID.String()
	}
	_, err := s.messages.Publish(ctx, []queue.Publication{{
		ID: message.ID, Copies: []queue.Copy{{Queue: to, Message: message}},
	}})
	return err
}

type confirmInput struct {
	TopicArn                  *string `max:"2048"`
	Token                     *string `max:"1024" hidden:""`
	AuthenticateOnUnsubscribe *string `max:"16"`
}

// confirmSubscription accepts a token as proof that its endpoint agrees. A signed request also needs the permission of
// its own account. A request with AuthenticateOnUnsubscribe must be signed.
func (s *confirmations) confirmSubscription(
	ctx context.Context, c *protocol.Call, in *confirmInput,
) (*subscriptionARNOutput, error) {
	n, err := confirmedTopic(c, in.TopicArn)
	if err != nil {
		return nil, err
	}
	r := resource{name: n}
	c.Notes.Set(noteTopic, r.ARN())
	signed := !service.Anonymous(c)
	keep := in.AuthenticateOnUnsubscribe != nil && strings.EqualFold(*in.AuthenticateOnUnsubscribe, "true")
	switch {
	case !signed && keep:
		return nil, protocol.MissingAuthenticationToken()
	case !signed:
		c.Page = &pageOfNoToken
	default:
		about := service.Subject{Resource: &r, Owner: service.Caller(c).Account}
		if err := s.authorize(c, about, "SNS:ConfirmSubscription"); err != nil {
			return nil, err
		}
	}
	var v protocol.Violations
	token := v.Required("token", in.Token)
	if err := v.Err(); err != nil {
		return nil, err
	}
	if !isToken(token) {
		return nil, errToken()
	}
	sub, err := control.Decide(ctx, s.change, func(tx *topic.Tx) (*topic.Subscription, error) {
		sub := s.tokenFits(n, token)
		switch {
		case sub == nil:
			return nil, errParameter("Token")
		case !sub.Pending():
			return sub, nil
		}
		update := tx.UpdateSubscription
		if sub.Ending != nil {
			if err := s.quotas.checkLimits(sub); err != nil {
				return nil, err
			}
			update = tx.UpdateEnded
		}
		return update(sub.ID, func(sub *topic.Subscription) error {
			sub.Confirmation.Done, sub.Ending = true, nil
			sub.Authenticated = signed && service.Caller(c).Account == sub.Owner
			sub.KeepsOnLink = keep
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if !signed {
		c.Page = s.pageOfConfirmation(sub)
	}
	return &subscriptionARNOutput{sub.ARN()}, nil
}

// confirmedTopic returns the topic whose subscription a request confirms. A wrong ARN has its own error.
func confirmedTopic(c *protocol.Call, arn *string) (topic.Name, error) {
	n, err := topicNamed(c, "TopicArn", arn)
	if err != nil && arn != nil {
		return n, errParameter("Topic")
	}
	return n, err
}

// isToken reports whether s can be a token, of this server or of AWS.
func isToken(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) >= sha256.Size*2
}

// tokenFits returns the subscription to a topic that a token confirms, or nil. The token of a confirmed subscription
// stays valid until it expires, because a link may be followed twice. So does the token that restores an ended
// subscription.
func (s *confirmations) tokenFits(n topic.Name, token string) *topic.Subscription {
	if len(token) != tokenDigits {
		return nil
	}
	id, err := uuid.Parse(token[:tokenIDDigits])
	if err != nil {
		return nil
	}
	sub := s.topics.Subscription(id.String())
	if sub == nil {
		sub = s.topics.Ended(id.String())
	}
	if sub == nil || sub.Topic != n || sub.Confirmation == nil || !s.now().Before(sub.Confirmation.Expires) ||
		subtle.ConstantTimeCompare([]byte(hashToken(token)), []byte(sub.Confirmation.Token)) != 1 {
		return nil
	}
	return sub
}
