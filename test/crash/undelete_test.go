package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/test/program"
)

// TestKillDeletions kills the server after queues were deleted and restored. An acknowledged deletion or undo holds
// after the restart, and so does each message that was sent in between: a restored queue is complete.
func TestKillDeletions(t *testing.T) {
	program.Long(t)
	t.Parallel()
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_CRASH_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 28))
	binary, data := program.Build(t), t.TempDir()
	const rounds, queues = 10, 4

	p := launch(t, binary, data)
	root := caller(t, p)
	sent, gone := make([][]string, queues), make([]bool, queues)
	name := func(i int) string { return fmt.Sprintf("q%d.fifo", i) }
	for i := range queues {
		queue := name(i)
		in := &sqs.CreateQueueInput{QueueName: &queue, Attributes: map[string]string{
			"FifoQueue": "true", "ContentBasedDeduplication": "true", "VisibilityTimeout": "0",
		}}
		if _, err := root.SQS.CreateQueue(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	step := func(i int) {
		queue, group := name(i), "g"
		switch {
		case gone[i]:
			status, out := root.Sluice(t, "UndoDelete", apitest.Object{"QueueName": queue})
			if status != http.StatusOK || fmt.Sprint(out["Messages"]) != fmt.Sprint(len(sent[i])) {
				t.Fatalf("undo of %s with %d messages: %d %v", queue, len(sent[i]), status, out)
			}
			gone[i] = false
		case rng.IntN(2) == 0 && len(sent[i]) < 10:
			body := fmt.Sprint(len(sent[i]))
			in := &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &body, MessageGroupId: &group}
			if _, err := root.SQS.SendMessage(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			sent[i] = append(sent[i], body)
		default:
			if _, err := root.SQS.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &queue}); err != nil {
				t.Fatal(err)
			}
			gone[i] = true
		}
	}
	for range rounds {
		for range 1 + rng.IntN(12) {
			step(rng.IntN(queues))
		}
		p.kill(t)
		p = launch(t, binary, data)
		root = caller(t, p)
		for i := range queues {
			queue := name(i)
			in := &sqs.ReceiveMessageInput{QueueUrl: &queue, MaxNumberOfMessages: 10}
			got, err := root.SQS.ReceiveMessage(t.Context(), in)
			if gone[i] {
				if err == nil || apitest.Code(err) != "AWS.SimpleQueueService.NonExistentQueue" {
					t.Errorf("%s was deleted, and a receive gave %v", queue, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			var bodies []string
			for _, m := range got.Messages {
				bodies = append(bodies, *m.Body)
			}
			if !slices.Equal(bodies, sent[i]) {
				t.Errorf("%s has %q, and %q was sent", queue, bodies, sent[i])
			}
		}
	}
	p.stop(t)
}
