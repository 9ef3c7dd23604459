package sns

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store/storetest"
	"github.com/sluicemq/sluice/internal/tool/fairshare"
	"github.com/sluicemq/sluice/internal/topic"
)

// A publication whose filter policies take long waits until another account has had its turn, and does nothing more
// when its client has left. One with little to compare does not wait.
func TestLongFiltersTakeTurns(t *testing.T) {
	t.Parallel()
	s, news := filtered100(t)
	other := s.filtering.Begin(t.Context(), "the other account")
	defer other.End()
	if err := other.Spend(freeFiltering + 1); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer leave()
	for _, test := range []struct {
		text string
		fits bool
	}{
		{`{"k": ["a"]}`, true},
		{`{"k": [` + strings.Repeat(`"a", `, 40_000) + `"a"]}`, false},
	} {
		_, _, err := s.plansOf(ctx, news.Name.Account, []*outbound{{topic: news, text: test.text}})
		if (err == nil) != test.fits {
			t.Errorf("a message of %d bytes: %v", len(test.text), err)
		}
	}
}

// filtered100 returns a publisher, and a topic with a subscription whose filter policy has a hundred conditions.
func filtered100(t *testing.T) (*publisher, *topic.Topic) {
	t.Helper()
	ctl := control.New(control.Options{Store: storetest.Memory(t)})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	topics, err := topic.Open(topic.Options{Control: ctl})
	if err != nil {
		t.Fatal(err)
	}
	queues, err := catalog.Open(catalog.Options{Control: ctl})
	if err != nil {
		t.Fatal(err)
	}
	topics.Use(queues)
	name := topic.Name{Account: "111122223333", Region: "us-east-1", Topic: "news"}
	var made *topic.Topic
	if err := topics.Change(t.Context(), func(tx *topic.Tx) error {
		if made, err = tx.Create(name, topic.Attributes{}, nil, time.Now()); err != nil {
			return err
		}
		_, err = tx.Subscribe(topic.Subscription{
			Topic: name, Protocol: topic.SQS, Endpoint: "arn:aws:sqs:us-east-1:111122223333:q", Owner: name.Account,
			Attributes: topic.SubscriptionAttributes{
				Filter: `{"k": [` + strings.Repeat(`{"suffix": "z"}, `, 99) + `{"suffix": "z"}]}`,
				Scope:  topic.ScopeBody,
			},
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return &publisher{
		core: &core{topics: topics, now: time.Now}, counting: func() bool { return false },
		filtering: fairshare.NewSlices(fairshare.SliceOptions{Places: 1, Free: freeFiltering, Slice: filteringSlice}),
	}, made
}
