package sns_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// unavailable is an engine that accepts nothing while it has an error.
type unavailable struct {
	published
	err error
}

func (u *unavailable) Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	if u.err != nil {
		return nil, u.err
	}
	return u.published.Publish(ctx, publications)
}

// signs is a signer for any caller.
type signs struct{}

func (signs) Sign([]byte) (string, error) { return "signature", nil }
func (signs) Version() string             { return "1" }
func (signs) CertURL() string             { return "https://example.com/certificate" }

// A notice of the end of a subscription that was not sent, because the server was killed or a shard was unreachable, is
// sent later, once, with a token that is valid for as long as the original one.
func TestTend(t *testing.T) {
	t.Parallel()
	topics, queues := newTopics(t)
	engine, now := &unavailable{err: errors.New("no owner")}, testTime
	s, _ := sns.New(sns.Options{
		Topics: topics, Catalog: queues, Messages: engine, Now: func() time.Time { return now },
		Signer: func(string, string) (envelope.Signer, error) { return signs{}, nil },
	})
	name := topic.Name{Account: account, Region: region, Topic: "news"}
	var sub *topic.Subscription
	err := topics.Change(t.Context(), func(tx *topic.Tx) error {
		_, err := tx.Create(name, topic.Attributes{}, nil, now)
		return err
	})
	if err == nil {
		err = topics.Change(t.Context(), func(tx *topic.Tx) (err error) {
			sub, err = tx.Subscribe(topic.Subscription{
				Topic: name, Protocol: topic.HTTP, Endpoint: "http://example.com/", Owner: account,
			})
			return err
		})
	}
	if err == nil {
		err = topics.Change(t.Context(), func(tx *topic.Tx) error {
			_, err := tx.End(sub.ID, topic.Confirmation{Token: "lost", Expires: now.Add(48 * time.Hour)}, now)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	tend := func(after time.Duration, fails bool, messages int) {
		t.Helper()
		now = testTime.Add(after)
		if err := s.Tend(t.Context()); (err != nil) != fails || len(engine.published) != messages {
			t.Errorf("after %s: %v, %d messages", after, err, len(engine.published))
		}
	}
	tend(time.Second, false, 0) // the request that ended it is about to notify
	tend(time.Minute, true, 0)
	engine.err = nil
	tend(2*time.Minute, false, 1)
	tend(3*time.Minute, false, 1)
	c := engine.published[0].Copies[0]
	var message struct{ Type, Token string }
	if err := json.Unmarshal([]byte(c.Message.Body), &message); err != nil ||
		message.Type != "UnsubscribeConfirmation" || c.Queue != sub.Queue {
		t.Errorf("%+v, %v", message, err)
	}
	sum := sha256.Sum256([]byte(message.Token))
	if have := topics.Ended(sub.ID).Confirmation; have.Token != hex.EncodeToString(sum[:]) ||
		!have.Expires.Equal(testTime.Add(48*time.Hour)) {
		t.Errorf("%+v", have)
	}
	tend(48*time.Hour-1, false, 1)
	if topics.Ended(sub.ID) == nil {
		t.Error("the subscription is removed too early")
	}
	tend(48*time.Hour, false, 1)
	if topics.Ended(sub.ID) != nil || topics.Fed(sub.Queue) != nil {
		t.Error("the subscription is not removed")
	}
}
