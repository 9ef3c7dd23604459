package sns_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store/storetest"
	"github.com/sluicemq/sluice/internal/topic"
)

var testTime = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// published keeps the publications that the service passes to the engine.
type published []queue.Publication

func (p *published) Publish(_ context.Context, publications []queue.Publication) (out []queue.Published, err error) {
	*p = append(*p, publications...)
	for _, one := range publications {
		out = append(out, queue.Published{ID: one.ID})
	}
	return out, nil
}

// newTopics returns topics of a store in memory, and the catalog that they use.
func newTopics(t *testing.T) (*topic.Topics, *catalog.Catalog) {
	t.Helper()
	records := storetest.Memory(t)
	ctl := control.New(control.Options{Store: records})
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
	return topics, queues
}

// Another service of the server may publish if the topic's policy allows it: by default for the topic's own account.
func TestNotices(t *testing.T) {
	t.Parallel()
	topics, queues := newTopics(t)
	var engine published
	service, _ := sns.New(sns.Options{Topics: topics, Catalog: queues, Messages: &engine, Access: access.New(nil)})
	const statement = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Service":"cloudwatch.amazonaws.com"},"Action":"SNS:Publish","Resource":"*","Condition":{%s}}}`
	make := func(name, policy string) string {
		n := topic.Name{Account: account, Region: region, Topic: name}
		err := topics.Change(t.Context(), func(tx *topic.Tx) error {
			_, err := tx.Create(n, topic.Attributes{Policy: policy, ContentDedup: name == "news.fifo"}, nil, testTime)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n.ARN()
	}
	own, alarm := "arn:aws:cloudwatch:us-east-1:"+account+":alarm:a",
		"arn:aws:cloudwatch:us-east-1:"+otherAccount+":alarm:a"
	plain := make("plain", "")
	shared := make("shared",
		fmt.Sprintf(statement, `"ArnLike":{"aws:SourceArn":"arn:aws:cloudwatch:*:`+otherAccount+`:alarm:*"}`))
	fifo, strict := make("news.fifo", ""), make("strict.fifo", "")
	for _, tc := range []struct {
		notice sns.Notice
		want   string
	}{
		{sns.Notice{Topic: plain, Source: own, Account: account, Subject: "ALARM", Message: "m"}, ""},
		{sns.Notice{Topic: fifo, Source: own, Account: account, Message: "m"}, ""},
		{sns.Notice{
			Topic: strict, Source: own, Account: account, Message: "m",
			ID: "0001764000000-0194f0a0-0000-7000-8000-000000000001",
		}, ""},
		{sns.Notice{Topic: plain, Source: alarm, Account: otherAccount, Message: "m"},
			"AuthorizationError: User: cloudwatch.amazonaws.com is not authorized to perform: SNS:Publish on resource: " + plain},
		{sns.Notice{Topic: shared, Source: alarm, Account: otherAccount, Message: "m"}, ""},
		{sns.Notice{Topic: shared, Source: own, Account: account, Message: "m"}, "AuthorizationError: "},
		{sns.Notice{Topic: plain + "x", Source: own, Account: account, Message: "m"}, "NotFound: Topic does not exist"},
		{sns.Notice{Topic: "x", Source: own, Account: account, Message: "m"},
			"InvalidParameter: Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 1"},
		{sns.Notice{Topic: plain, Source: own, Account: account}, "InvalidParameter: Invalid parameter: Empty message"},
	} {
		tc.notice.Service = "cloudwatch.amazonaws.com"
		id, err := service.PublishNotice(t.Context(), tc.notice)
		if (err == nil) != (tc.want == "") || (err == nil) != (id != "") ||
			err != nil && !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%+v: %q, %v", tc.notice, id, err)
		}
	}
	if len(engine) != 2 || engine[0].Topic == 0 ||
		engine[1].Dedup != "0001764000000-0194f0a0-0000-7000-8000-000000000001" {
		t.Errorf("the engine got %+v", engine)
	}
}
