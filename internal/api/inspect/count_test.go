package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// groups returns the groups of an answer in order of their values, and the answer's own fields.
func groups(out object) string {
	var parts []string
	for _, g := range out["Groups"].([]any) {
		g := g.(object)
		parts = append(parts, fmt.Sprintf("%v %v by %v", g["Value"], g["Messages"], g["Filter"]))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%s; %v of %v of %v", strings.Join(parts, ", "), out["Found"], out["Scanned"], out["Total"])
}

// Messages in all states are counted by a value, with the filter that selects each group.
func TestCountMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q", "VisibilityTimeout", "600")
	r.sendBodies(url, `{"error": "timeout"}`)
	got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
	apitest.Must(t, got, err)
	r.sendBodies(url, `{"error": "timeout"}`, `{"error": "not \"found\""}`, "text")
	r.send(&sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String(`{"error": 7}`), DelaySeconds: 600,
		MessageAttributes: map[string]types.MessageAttributeValue{
			"tenant": {DataType: aws.String("String"), StringValue: aws.String("acme")},
		},
	})
	for by, want := range map[string]string{
		"body.error": `7 1 by body.error:"7", <nil> 1 by -body.error:*, not "found" 1 by body.error:"not \"found\"", ` +
			`timeout 2 by body.error:"timeout"; 5 of 5 of 5`,
		"attr.tenant": `<nil> 4 by -attr.tenant:*, acme 1 by attr.tenant:"acme"; 5 of 5 of 5`,
		"count":       "0 4 by count>=0 count<=0, 1 1 by count>=1 count<=1; 5 of 5 of 5",
	} {
		if got := groups(r.ask("CountMessages", object{"QueueUrl": url, "By": by})); got != want {
			t.Errorf("by %s: %s; want %s", by, got, want)
		}
	}
	in := object{"QueueUrl": url, "By": "body.error", "Filter": "timeout", "States": []string{"Visible"}}
	if got := groups(r.ask("CountMessages", in)); got != `timeout 1 by body.error:"timeout"; 1 of 3 of 3` {
		t.Errorf("visible ones with a filter: %s", got)
	}
}

func TestCountMessagesIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q")
	for words, in := range map[string]object{
		"By: there is no key":        {"QueueUrl": url},
		"By: a key has one value":    {"QueueUrl": url, "By": "body.a.*"},
		"Filter: column 1":           {"QueueUrl": url, "By": "count", "Filter": "x:1"},
		"Cursor is not one":          {"QueueUrl": url, "By": "count", "Cursor": "AAAA"},
		"it may have Visible":        {"QueueUrl": url, "By": "count", "States": []string{"Gone"}},
		"less than or equal to 512":  {"QueueUrl": url, "By": "attr." + strings.Repeat("x", 508)},
		"less than or equal to 1024": {"QueueUrl": url, "By": "count", "Filter": strings.Repeat("x", 1025)},
		"specified queue does not":   {"QueueUrl": "none", "By": "count"},
	} {
		r.refused(r.root, "CountMessages", in, 400, words)
	}
	own, _ := r.root.User(t, "own", apitest.Allow("sluice:PeekMessages", arn("q")))
	if status, out := own.Sluice(t, "CountMessages", object{"QueueUrl": url, "By": "count"}); status != 200 {
		t.Errorf("by receives: %d %v", status, out)
	}
	r.refused(own, "CountMessages", object{"QueueUrl": url, "By": "body.a"}, 403, "sluice:PeekMessageBody")
	r.refused(own, "CountMessages", object{"QueueUrl": url, "By": "count", "Filter": "x"}, 403,
		"sluice:PeekMessageBody")
	none, _ := r.root.User(t, "none", apitest.Allow("sqs:SendMessage", arn("q")))
	r.refused(none, "CountMessages", object{"QueueUrl": url, "By": "count"}, 403, "sluice:PeekMessages")
	r.refused(apitest.Stranger(r.server.Endpoint()), "CountMessages", object{"QueueUrl": url, "By": "count"}, 403,
		"Authentication Token")
}
