package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// caller returns the root of a server that has just started.
func caller(t *testing.T, p *process) *apitest.Actor {
	t.Helper()
	endpoint, ok := <-p.endpoint
	if !ok {
		t.Fatalf("the server does not start: %v\n%s", <-p.ended, p.log.String())
	}
	return apitest.NewActor(endpoint, workload.Root.AccessKeyID, workload.Root.Secret, "", nil)
}

// TestKillRedrive kills the server while a task moves every third message out of the middle of a queue. Each of these
// is moved once, and the others stay.
func TestKillRedrive(t *testing.T) {
	program.Long(t)
	t.Parallel()
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_CRASH_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	binary, data := program.Build(t), t.TempDir()
	const messages = 6000

	p := launch(t, binary, data)
	root := caller(t, p)
	for _, name := range []string{"from", "to"} {
		if _, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name}); err != nil {
			t.Fatal(err)
		}
	}
	var want, left []string
	for n := 0; n < messages; n += 10 {
		in := &sqs.SendMessageBatchInput{QueueUrl: aws.String("from")}
		for i := n; i < n+10; i++ {
			body := fmt.Sprintf("%05d stays", i)
			if i%3 == 0 {
				body = fmt.Sprintf("%05d moves", i)
				want = append(want, body)
			} else {
				left = append(left, body)
			}
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
				Id: aws.String(fmt.Sprint(i)), MessageBody: &body,
			})
		}
		if _, err := root.SQS.SendMessageBatch(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(operation string, in apitest.Object) apitest.Object {
		t.Helper()
		status, out := root.Sluice(t, operation, in)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %v", operation, status, out)
		}
		return out
	}
	task := func() apitest.Object {
		return ask("ListRedriveTasks", apitest.Object{"QueueUrl": "from"})["Tasks"].([]any)[0].(apitest.Object)
	}
	ask("RedriveMessages", apitest.Object{
		"QueueUrl": "from", "Filter": "moves", "DestinationArn": "arn:aws:sqs:us-east-1:000000000000:to",
		"MaxNumberOfMessagesPerSecond": 500,
	})
	kills := 0
	for task()["Status"] == "RUNNING" {
		time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
		p.kill(t)
		kills++
		p = launch(t, binary, data)
		root = caller(t, p)
	}
	eventually.True(t, "the task is done", func() bool { return task()["Status"] == "COMPLETED" })
	moved, stayed := bodiesOf(t, ask, "to"), bodiesOf(t, ask, "from")
	if done := task(); done["Moved"] != float64(len(want)) || done["Scanned"] != float64(messages) {
		text, _ := json.Marshal(done)
		t.Errorf("the task is %s", text)
	}
	if !slices.Equal(moved, want) || !slices.Equal(stayed, left) {
		t.Errorf("%d were moved of %d, %d stay of %d", len(moved), len(want), len(stayed), len(left))
	}
	p.stop(t)
	t.Logf("%d kills", kills)
	if kills == 0 {
		t.Error("the server was not killed")
	}
}

// bodiesOf returns the bodies of all messages of a queue, in order.
func bodiesOf(t *testing.T, ask func(string, apitest.Object) apitest.Object, queue string) (bodies []string) {
	t.Helper()
	in := apitest.Object{"QueueUrl": queue, "Max": 500, "IncludeBody": true}
	for {
		out := ask("PeekMessages", in)
		for _, m := range out["Messages"].([]any) {
			bodies = append(bodies, strings.Clone(m.(apitest.Object)["Body"].(string)))
		}
		if out["Cursor"] == nil {
			slices.Sort(bodies)
			return bodies
		}
		in["Cursor"] = out["Cursor"]
	}
}
