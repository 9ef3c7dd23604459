package sqs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// Terraform's AWS provider waits until a change has been read this many times in a row, and until a deleted queue was
// not found this many times in a row.
const (
	readsWhenChanged = 6
	readsWhenDeleted = 15
)

// provider handles queues as Terraform's AWS provider does: with the same calls in the same order, and its comparisons.
// It pauses between reads, which takes minutes on AWS, because a read may not show the last write yet. Here each read
// does.
type provider struct{ *sdk }

// configuration is a user's aws_sqs_queue.
type configuration struct {
	attributes map[string]string
	tags       map[string]string
}

// usual are the attributes that the provider sends for every queue.
func usual(more map[string]string) map[string]string {
	all := map[string]string{
		"DelaySeconds": "0", "MaximumMessageSize": "262144", "MessageRetentionPeriod": "345600",
		"ReceiveMessageWaitTimeSeconds": "0", "VisibilityTimeout": "30",
	}
	maps.Copy(all, more)
	return all
}

// read returns a queue's attributes, or false if there is no such queue.
func (p *provider) read(u *string, names ...types.QueueAttributeName) (map[string]string, bool) {
	p.T.Helper()
	out, err := p.GetQueueAttributes(p.Ctx, &sqs.GetQueueAttributesInput{QueueUrl: u, AttributeNames: names})
	if gone := (*types.QueueDoesNotExist)(nil); errors.As(err, &gone) {
		return nil, false
	}
	return apitest.Must(p.T, out, err).Attributes, true
}

// difference returns the first attribute with an unexpected value, by the provider's rules.
func difference(got, want map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		g, there := got[name]
		switch w := want[name]; {
		case !there && w == "", g == w:
		case !there && name == "KmsDataKeyReusePeriodSeconds" && w == "300":
		case strings.HasSuffix(name, "Policy") && sameJSON(g, w):
		default:
			return fmt.Sprintf("%s is %q (%t), want %q", name, g, there, w)
		}
	}
	return ""
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// propagated waits until a queue has these attributes.
func (p *provider) propagated(u *string, want map[string]string) {
	p.T.Helper()
	for i := range readsWhenChanged {
		got, there := p.read(u, types.QueueAttributeNameAll)
		if d := difference(got, want); !there || d != "" {
			p.T.Fatalf("read %d of queue %s, which is there: %t: %s", i+1, *u, there, d)
		}
	}
}

// create creates a queue, again if a queue of that name was deleted recently.
func (p *provider) create(name string, c configuration, again func()) *string {
	p.T.Helper()
	in := &sqs.CreateQueueInput{QueueName: &name, Attributes: c.attributes, Tags: c.tags}
	out, err := p.CreateQueue(p.Ctx, in)
	for apitest.Code(err) == "AWS.SimpleQueueService.QueueDeletedRecently" && again != nil {
		again()
		out, err = p.CreateQueue(p.Ctx, in)
	}
	u := apitest.Must(p.T, out, err).QueueUrl
	p.propagated(u, c.attributes)
	return u
}

// refresh reads a queue by its URL alone, as a plan and an import do, and fails if there is something to change.
func (p *provider) refresh(u *string, name string, c configuration) {
	p.T.Helper()
	got, there := p.read(u, types.QueueAttributeNameAll)
	if d := difference(got, c.attributes); !there || d != "" {
		p.T.Errorf("the plan for %s, which is there: %t, has a difference: %s", name, there, d)
	}
	if path.Base(*u) != name || !strings.HasSuffix(got["QueueArn"], ":"+account+":"+name) {
		p.T.Errorf("the queue %s is %s, %s", name, *u, got["QueueArn"])
	}
	if got["FifoQueue"] != c.attributes["FifoQueue"] {
		p.T.Errorf("FifoQueue of %s is %q", name, got["FifoQueue"])
	}
	out, err := p.ListQueueTags(p.Ctx, &sqs.ListQueueTagsInput{QueueUrl: u})
	if tags := apitest.Must(p.T, out, err).Tags; !maps.Equal(tags, c.tags) {
		p.T.Errorf("the tags of %s are %v, want %v", name, tags, c.tags)
	}
}

// update changes only what is different.
func (p *provider) update(u *string, have, want configuration) {
	p.T.Helper()
	changed := make(map[string]string)
	const key = "KmsMasterKeyId" // any other that is not named any more stays as it is
	if _, kept := want.attributes[key]; !kept && have.attributes[key] != "" {
		changed[key] = ""
	}
	for name, value := range want.attributes {
		if old, had := have.attributes[name]; !had || old != value {
			changed[name] = value
		}
	}
	if len(changed) > 0 {
		_, err := p.SetQueueAttributes(p.Ctx, &sqs.SetQueueAttributesInput{QueueUrl: u, Attributes: changed})
		apitest.Must(p.T, 0, err)
		p.propagated(u, changed)
	}
	var removed []string
	set := make(map[string]string)
	for key, value := range have.tags {
		if want.tags[key] != value {
			removed = append(removed, key)
		}
	}
	for key, value := range want.tags {
		if old, had := have.tags[key]; !had || old != value {
			set[key] = value
		}
	}
	if len(removed) > 0 {
		_, err := p.UntagQueue(p.Ctx, &sqs.UntagQueueInput{QueueUrl: u, TagKeys: removed})
		apitest.Must(p.T, 0, err)
	}
	if len(set) > 0 {
		_, err := p.TagQueue(p.Ctx, &sqs.TagQueueInput{QueueUrl: u, Tags: set})
		apitest.Must(p.T, 0, err)
	}
}

// destroy deletes a queue, and waits until it is gone.
func (p *provider) destroy(u *string) {
	p.T.Helper()
	_, err := p.DeleteQueue(p.Ctx, &sqs.DeleteQueueInput{QueueUrl: u})
	apitest.Must(p.T, 0, err)
	for i := range readsWhenDeleted {
		if got, there := p.read(u, types.QueueAttributeNameAll); there {
			p.T.Fatalf("read %d of %s after it was deleted: %v", i+1, *u, got)
		}
	}
	// If it was gone before, there is nothing to destroy.
	_, err = p.DeleteQueue(p.Ctx, &sqs.DeleteQueueInput{QueueUrl: u})
	apitest.Refused[*types.QueueDoesNotExist](p.T, err, "AWS.SimpleQueueService.NonExistentQueue")
}

// newProvider returns a provider of a server with a clock that the test moves.
func newProvider(t *testing.T) (*provider, *apitest.Clock) {
	t.Helper()
	clock := new(apitest.Clock)
	config := servertest.InMemory()
	config.Now = clock.Now
	s, _ := servertest.Start(t, config)
	cred, _ := s.RootOf(account)
	signer := func(o *sqs.Options) { o.HTTPSignerV4 = apitest.SignerAt(clock.Now) }
	return &provider{sdkOf(t, s, cred, "us-east-1", signer)}, clock
}

func queueARN(name string) string { return "arn:aws:sqs:us-east-1:" + account + ":" + name }

func sending(name string) string {
	return `{"Statement":[{"Action":"sqs:SendMessage","Effect":"Allow","Principal":{"AWS":"` + otherAccount +
		`"},"Resource":"` + queueARN(name) + `","Sid":"send"}],"Version":"2012-10-17"}`
}

func redriving(dead string, most int) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, queueARN(dead), most)
}

// A queue is created, changed from each configuration to the next, replaced and destroyed. After each step the plan is
// empty.
func TestQueueInTerraform(t *testing.T) {
	t.Parallel()
	p, clock := newProvider(t)
	for _, suffix := range []string{"", ".fifo"} {
		attributes := map[string]string{}
		if suffix != "" {
			attributes["FifoQueue"] = "true"
		}
		p.create("dead"+suffix, configuration{attributes: usual(attributes)}, nil)
	}
	// KMS keys and SQS's own keys exclude each other: the provider sends nothing for the unnamed one.
	standard := []configuration{
		{usual(nil), nil},
		{usual(map[string]string{
			"DelaySeconds": "90", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "1209600",
			"ReceiveMessageWaitTimeSeconds": "20", "VisibilityTimeout": "43200",
		}), map[string]string{"team": "red", "cost": "1"}},
		{usual(map[string]string{
			"Policy": sending("jobs"), "RedrivePolicy": redriving("dead", 4), "SqsManagedSseEnabled": "false",
		}), map[string]string{"team": "blue", "env": "prod"}},
		{usual(map[string]string{
			"Policy": sending("jobs"), "RedrivePolicy": redriving("dead", 1000), "KmsMasterKeyId": "alias/aws/sqs",
			"KmsDataKeyReusePeriodSeconds": "300",
		}), map[string]string{"team": "blue"}},
		{usual(map[string]string{
			"RedriveAllowPolicy": `{"redrivePermission":"byQueue","sourceQueueArns":["` + queueARN("dead") + `"]}`,
		}), nil},
	}
	fifo := []configuration{
		{usual(map[string]string{
			"FifoQueue": "true", "ContentBasedDeduplication": "false", "DeduplicationScope": "queue",
			"FifoThroughputLimit": "perQueue",
		}), nil},
		{usual(map[string]string{
			"FifoQueue": "true", "ContentBasedDeduplication": "true", "DeduplicationScope": "messageGroup",
			"FifoThroughputLimit": "perMessageGroupId",
		}), map[string]string{"team": "red"}},
		{usual(map[string]string{
			"FifoQueue": "true", "ContentBasedDeduplication": "true", "DeduplicationScope": "queue",
			"FifoThroughputLimit": "perQueue", "RedrivePolicy": redriving("dead.fifo", 4),
		}), nil},
	}
	for name, configurations := range map[string][]configuration{"jobs": standard, "jobs.fifo": fifo} {
		u := p.create(name, configurations[0], nil)
		p.refresh(u, name, configurations[0])
		for i, next := range configurations[1:] {
			have := configurations[i]
			// A queue stays FIFO for life.
			p.update(u, have, next)
			p.refresh(u, name, next)
		}
		// A change that forces a replacement destroys the queue and creates it again, which SQS refuses for a minute.
		p.destroy(u)
		pauses := 0
		u = p.create(name, configurations[1], func() { clock.Forward(10 * time.Second); pauses++ })
		p.refresh(u, name, configurations[1])
		if pauses == 0 || pauses > 6 {
			t.Errorf("it took %d pauses of 10 seconds to recreate %s", pauses, name)
		}
		p.destroy(u)
	}
}

// The policies of a queue can be separate resources, which do not know the queue's other attributes.
func TestQueuePoliciesInTerraform(t *testing.T) {
	t.Parallel()
	p, _ := newProvider(t)
	dead := p.create("dead", configuration{attributes: usual(nil)}, nil)
	u := p.create("jobs", configuration{attributes: usual(nil)}, nil)
	for _, r := range []struct {
		kind, attribute string
		queue           *string
		want            [2]string
	}{
		{"aws_sqs_queue_policy", "Policy", u,
			[2]string{sending("jobs"), strings.Replace(sending("jobs"), "sqs:SendMessage", "sqs:ReceiveMessage", 1)}},
		{"aws_sqs_queue_redrive_policy", "RedrivePolicy", u, [2]string{redriving("dead", 4), redriving("dead", 5)}},
		{"aws_sqs_queue_redrive_allow_policy", "RedriveAllowPolicy", dead, [2]string{
			`{"redrivePermission":"byQueue","sourceQueueArns":["` + queueARN("jobs") + `"]}`,
			`{"redrivePermission":"denyAll"}`,
		}},
	} {
		name := types.QueueAttributeName(r.attribute)
		read := func() string {
			t.Helper()
			got, there := p.read(r.queue, name)
			if !there || len(got) > 1 {
				t.Fatalf("%s: %v", r.kind, got)
			}
			return got[r.attribute]
		}
		set := func(value string) {
			t.Helper()
			one := map[string]string{r.attribute: value}
			_, err := p.SetQueueAttributes(p.Ctx, &sqs.SetQueueAttributesInput{QueueUrl: r.queue, Attributes: one})
			apitest.Must(t, 0, err)
			p.propagated(r.queue, one)
		}
		if got := read(); got != "" {
			t.Errorf("%s exists before it is created: %s", r.kind, got)
		}
		for _, value := range r.want {
			set(value)
			if got := read(); !sameJSON(got, value) {
				t.Errorf("the plan for %s has a difference: %s, want %s", r.kind, got, value)
			}
		}
		set("")
		if got := read(); got != "" {
			t.Errorf("%s exists after it was destroyed: %s", r.kind, got)
		}
		p.propagated(r.queue, usual(nil))
		for _, value := range r.want[:1] { // and again, to go with its queue
			set(value)
		}
	}
	p.destroy(u)
	if _, there := p.read(u, types.QueueAttributeNamePolicy); there { // then the resources are gone as well
		t.Error("the queue exists")
	}
}

// Data sources find a queue by its name, and queues by the beginning of theirs.
func TestQueueDataSourcesInTerraform(t *testing.T) {
	t.Parallel()
	p, _ := newProvider(t)
	var want []string
	for i := range 7 {
		want = append(want,
			*p.create(fmt.Sprint("orders-", i),
				configuration{attributes: usual(nil), tags: map[string]string{"n": fmt.Sprint(i)}}, nil))
	}
	p.create("others", configuration{attributes: usual(nil)}, nil)
	out, err := p.GetQueueUrl(p.Ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("orders-3")})
	u := apitest.Must(t, out, err).QueueUrl
	got, _ := p.read(u, types.QueueAttributeNameQueueArn)
	tags, err := p.ListQueueTags(p.Ctx, &sqs.ListQueueTagsInput{QueueUrl: u})
	if apitest.Must(t, tags, err).Tags["n"] != "3" || *u != want[3] ||
		!maps.Equal(got, map[string]string{"QueueArn": queueARN("orders-3")}) {
		t.Errorf("the queue is %s, %v, with the tags %v", *u, got, tags.Tags)
	}
	_, err = p.GetQueueUrl(p.Ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("nobody")})
	apitest.Refused[*types.QueueDoesNotExist](t, err, "AWS.SimpleQueueService.NonExistentQueue")
	var found []string
	for pages := sqs.NewListQueuesPaginator(p.Client, &sqs.ListQueuesInput{
		QueueNamePrefix: aws.String("orders-"), MaxResults: aws.Int32(3),
	}); pages.HasMorePages(); {
		page, err := pages.NextPage(p.Ctx)
		found = append(found, apitest.Must(t, page, err).QueueUrls...)
	}
	apitest.Equal(t, found, want)
}
