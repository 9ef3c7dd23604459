package sqs_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// An account has at most the allowed number of queues, in all regions together. Other accounts have their own limit,
// and existing queues keep working.
func TestMaxQueues(t *testing.T) {
	t.Parallel()
	config := servertest.InMemory()
	config.MaxQueues = 2
	s, _ := servertest.Start(t, config)
	own, _ := s.RootOf(account)
	other, _ := s.RootOf(otherAccount)
	east, west := sdkOf(t, s, own, "us-east-1"), sdkOf(t, s, own, "us-west-2")
	u := east.Create("a", nil)
	west.Create("a", nil)
	for _, c := range []*sdk{east, west} {
		_, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("b")})
		apitest.Refused[*types.OverLimit](t, err, "OverLimit")
	}
	east.Create("a", nil) // which exists
	sdkOf(t, s, other, "us-east-1").Create("b", nil)
	if _, err := east.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: u}); err != nil {
		t.Fatal(err)
	}
	west.Create("b", nil)
}

// Test suites purge and recreate queues faster than SQS allows.
func TestNoCoolDowns(t *testing.T) {
	t.Parallel()
	config := servertest.InMemory()
	config.NoCoolDowns = true
	s, _ := servertest.Start(t, config)
	cred, _ := s.RootOf(account)
	c := sdkOf(t, s, cred, "us-east-1")
	for range 3 {
		u := c.Create("q", nil)
		for range 3 {
			c.Send(u, "m")
			if _, err := c.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: u}); err != nil {
				t.Fatal(err)
			}
			c.Counts(u, 0, 0, 0)
		}
		if _, err := c.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: u}); err != nil {
			t.Fatal(err)
		}
	}
}

// However long a client's texts are, the answer repeats a bounded part of them.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	for _, d := range []apitest.Dialect{inJSON, inForm} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			c := newClient(t, d)
			c.Make("CreateQueue", object{"QueueName": "q"})
			inputs := apitest.ValidInputs(c, "handle", taskHandle("t", c.ARN("q")))
			inputs["SendMessage"]["MessageAttributes"] = object{"a": text("v")}
			inputs["SendMessage"]["MessageSystemAttributes"] = object{"AWSTraceHeader": text("v")}
			inputs["SendMessage"]["MessageDeduplicationId"] = "d"
			inputs["ReceiveMessage"]["AttributeNames"] = list{"All"}
			inputs["StartMessageMoveTask"]["DestinationArn"] = c.ARN("q")
			inputs["ListQueues"] = object{"QueueNamePrefix": "q", "NextToken": "t", "MaxResults": 1}
			inputs["SetQueueAttributes"]["Attributes"] = object{
				"Policy": "{}", "RedrivePolicy": "{}", "RedriveAllowPolicy": "{}", "KmsMasterKeyId": "k",
			}
			for op, in := range inputs {
				for _, n := range []int{2000, 60_000} {
					for _, text := range []string{strings.Repeat("é<", n/3),
						"arn:aws:sqs:" + strings.Repeat("r", n) + ":" + account + ":q",
						`{"a":"` + strings.Repeat("v", n) + `"}`} {
						for place, long := range lengthened(in, text) {
							if a := c.Call(op, long); a.Status >= 500 || len(a.Body) > 16<<10 {
								t.Errorf("%s with %d bytes at %s: status %d, an answer of %d bytes", op, len(text),
									place, a.Status, len(a.Body))
							}
						}
					}
				}
			}
		})
	}
}

// lengthened returns copies of an input, in each of which one text, or the key of one entry, is replaced. They are
// keyed by the place of the text.
func lengthened(in object, text string) map[string]object {
	out := make(map[string]object)
	for name, value := range in {
		with := func(path string, v any) {
			changed := maps.Clone(in)
			changed[name] = v
			out[name+path] = changed
		}
		switch v := value.(type) {
		case string:
			with("", text)
		case list:
			for i := range v {
				changed := slices.Clone(v)
				if entry, ok := v[i].(object); ok {
					for path, e := range lengthened(entry, text) {
						changed := slices.Clone(v)
						changed[i] = e
						with("["+path+"]", changed)
					}
					continue
				}
				changed[i] = text
				with("[]", changed)
			}
		case object:
			for path, e := range lengthened(v, text) {
				with("."+path, e)
			}
			changed := maps.Clone(v)
			changed[text] = "v"
			with(".key", changed)
		}
	}
	return out
}
