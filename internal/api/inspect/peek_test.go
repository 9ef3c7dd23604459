package inspect_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

var number = regexp.MustCompile(`^[0-9]`)

// found returns the bodies and states in an answer.
func found(out object) string {
	var parts []string
	for _, m := range out["Messages"].([]any) {
		m := m.(object)
		parts = append(parts, fmt.Sprint(m["Body"], " ", m["State"]))
	}
	return fmt.Sprintf("%s; %v of %v", strings.Join(parts, ", "), out["Scanned"], out["Total"])
}

func TestPeekMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("orders", "VisibilityTimeout", "600")
	r.sendBodies(url, "a", `{"id":7}`)
	r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("c"), DelaySeconds: 600})
	r.send(&sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String("d"), MessageGroupId: aws.String("g"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"tenant": {DataType: aws.String("String"), StringValue: aws.String("acme")},
			"raw":    {DataType: aws.String("Binary.x"), BinaryValue: []byte{0, 255}},
		},
	})
	got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
	if apitest.Must(t, got, err); len(got.Messages) != 1 {
		t.Fatal("nothing is received")
	}
	taken := *got.Messages[0].Body
	for range 2 { // the second peek finds the same
		out := r.ask("PeekMessages", object{"QueueUrl": url, "IncludeBody": true})
		text := found(out)
		for _, want := range []string{taken + " InFlight", "c Delayed", "; 4 of 4"} {
			if !strings.Contains(text, want) {
				t.Errorf("found %s; want %s", text, want)
			}
		}
		if out["Cursor"] != nil {
			t.Errorf("there is more: %v", out)
		}
	}
	for filter, want := range map[string]string{
		"body.id>6": `{"id":7}`, "attr.tenant:acme": "d", "group:g": "d", "count>=1": taken,
		"sent>2026-01-01 -a -id": "c",
	} {
		if text := found(r.ask("PeekMessages", object{
			"QueueUrl": url, "Filter": filter, "IncludeBody": true,
		})); !strings.HasPrefix(text, want+" ") || !strings.HasSuffix(text, "; 4 of 4") {
			t.Errorf("%s: found %s; want %s", filter, text, want)
		}
	}
	if text := found(r.ask("PeekMessages", object{
		"QueueUrl": url, "States": []string{"Delayed", "InFlight"},
	})); !strings.HasSuffix(text, "; 2 of 2") || strings.Contains(text, "Visible") {
		t.Errorf("in flight and delayed: %s", text)
	}
	var pages []string
	in := object{"QueueUrl": url, "Max": 3, "IncludeBody": true}
	for {
		out := r.ask("PeekMessages", in)
		pages = append(pages, found(out))
		if out["Cursor"] == nil {
			break
		}
		in["Cursor"] = out["Cursor"]
	}
	if len(pages) != 2 || strings.Count(strings.Join(pages, ","), ",") != 3 {
		t.Errorf("pages %q", pages)
	}
	m := r.ask("PeekMessages", object{"QueueUrl": url, "Filter": "group:g"})["Messages"].([]any)[0]
	if sent := fmt.Sprint(m.(object)["SentTimestamp"]); !number.MatchString(sent) {
		t.Errorf("it was sent at %s", sent)
	}
	if m := m.(object); m["Size"] != 43.0 || m["ReceiveCount"] != 0.0 {
		t.Errorf("of %v bytes, received %v times", m["Size"], m["ReceiveCount"])
	}
	for _, name := range []string{"SentTimestamp", "Size", "ReceiveCount"} {
		delete(m.(object), name)
	}
	want := object{
		"MessageId": apitest.UUID, "State": "Visible",
		"SenderId": apitest.Account, "MessageGroupId": "g",
		"MessageAttributes": object{
			"tenant": object{"DataType": "String", "StringValue": "acme"},
			"raw":    object{"DataType": "Binary.x", "BinaryValue": "AP8="},
		},
	}
	if err := apitest.Match(want, m); err != nil { // MD5OfBody would reveal a body to callers who may not see it
		t.Error(err)
	}
	m = r.ask("PeekMessages", object{"QueueUrl": url, "Filter": "group:g", "IncludeBody": true})["Messages"].([]any)[0]
	if md5 := m.(object)["MD5OfBody"]; md5 != "8277e0910d750195b448797616e091ad" {
		t.Errorf("with its body it has the digest %v", md5)
	}
}

// The same for a FIFO queue, in order, and for dead letters with their history.
func TestPeekOtherQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := r.queue("dead.fifo", "FifoQueue", "true")
	url := r.queue("q.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true", "VisibilityTimeout", "0",
		"RedrivePolicy", apitest.Redrive(arn("dead.fifo"), 1))
	for _, body := range []string{"a", "b", "c"} {
		r.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: aws.String("g")})
	}
	if text := found(r.ask("PeekMessages", object{
		"QueueUrl": url, "IncludeBody": true,
	})); text != "a Visible, b Visible, c Visible; 3 of 3" {
		t.Errorf("found %s", text)
	}
	for range 2 {
		got, err := r.root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url})
		apitest.Must(t, got, err)
	}
	out := r.ask("PeekMessages", object{"QueueUrl": dead, "IncludeBody": true, "Filter": "source:*:q.fifo count>=1"})
	if text := found(out); text != "a Visible; 1 of 1" {
		t.Errorf("dead letters: %s", text)
	}
	m := out["Messages"].([]any)[0].(object)
	if m["DeadLetterQueueSourceArn"] != arn("q.fifo") || m["ReceiveCount"] != 1.0 ||
		m["FirstReceiveTimestamp"] == nil || m["MessageGroupId"] != "g" || m["SequenceNumber"] == nil {
		t.Errorf("the dead letter is %v", m)
	}
}

func TestPeekIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	url := r.queue("q")
	r.sendBodies(url, "secret")
	for words, in := range map[string]object{
		"Max is 0":                      {"QueueUrl": url, "Max": 0},
		"between 1 and 500":             {"QueueUrl": url, "Max": 501},
		`States has "Lost"`:             {"QueueUrl": url, "States": []string{"Lost"}},
		"Filter: column 1: there is no": {"QueueUrl": url, "Filter": "colour:red"},
		"Cursor is not one":             {"QueueUrl": url, "Cursor": "AAAA"},
		"The specified queue does not":  {"QueueUrl": "none"},
		"does not exist":                {},
		"less than or equal to 1024":    {"QueueUrl": url, "Filter": strings.Repeat("x", 1025)},
		"less than or equal to 256":     {"QueueUrl": url, "Cursor": strings.Repeat("A", 257)},
		"have length less than or equal ": {"QueueUrl": url,
			"States": []string{"Visible", "Visible", "Visible", "Visible"}},
	} {
		r.refused(r.root, "PeekMessages", in, 400, words)
	}

	peeker, _ := r.root.User(t, "peeker", apitest.Allow("sluice:PeekMessages", arn("q")))
	reader, _ := r.root.User(t, "reader", apitest.Allow("sluice:Peek*", arn("q")))
	consumer, _ := r.root.User(t, "consumer", apitest.Allow("sqs:*", "*"))
	cred, _ := r.server.RootOf(apitest.OtherAccount)
	other := apitest.RootActor(r.server.Endpoint(), cred)
	// Not even a policy that grants everything to everyone opens a queue to other accounts.
	_, err := r.root.SQS.SetQueueAttributes(t.Context(),
		&sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{
			"Policy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}`,
		}})
	apitest.Must(t, 0, err)
	plain, body, word := object{"QueueUrl": url}, object{"QueueUrl": url, "IncludeBody": true},
		object{"QueueUrl": url, "Filter": "secret"}
	all := []object{plain, body, word, {"QueueUrl": url, "Filter": "body.a:b"}}
	for _, tc := range []struct {
		who string
		as  *apitest.Actor
		may []bool
	}{
		{"the root", r.root, []bool{true, true, true, true}},
		{"permitted", reader, []bool{true, true, true, true}},
		{"another account's root", other, []bool{false, false, false, false}},
		{"a caller without keys", apitest.Stranger(r.server.Endpoint()), []bool{false, false, false, false}},
	} {
		for i, in := range all {
			if status, out := tc.as.Sluice(t, "PeekMessages", in); (status == 200) != tc.may[i] ||
				status != 200 && status != 403 {
				t.Errorf("%s: %v: %d %v", tc.who, in, status, out)
			}
		}
	}
	_, err = r.root.SQS.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: &url, Attributes: map[string]string{"Policy": ""},
	})
	apitest.Must(t, 0, err)
	if status, out := peeker.Sluice(t, "PeekMessages", plain); status != 200 ||
		strings.Contains(fmt.Sprint(out), "secret") {
		t.Errorf("without bodies: %d %v", status, out)
	}
	for _, in := range all[1:] {
		r.refused(peeker, "PeekMessages", in, 403, "sluice:PeekMessageBody on resource: "+arn("q"))
	}
	r.refused(consumer, "PeekMessages", plain, 403, "sluice:PeekMessages on resource: "+arn("q"))
	r.refused(peeker, "PeekMessages", object{"QueueUrl": "none"}, 403, "sluice:PeekMessages on resource: "+arn("none"))
}
