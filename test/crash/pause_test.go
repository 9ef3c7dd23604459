package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/test/program"
)

// TestKillPauses kills the server while message groups are paused and resumed. An acknowledged change holds after the
// restart, for receives and in the server's answers.
func TestKillPauses(t *testing.T) {
	program.Long(t)
	t.Parallel()
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_CRASH_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 27))
	binary, data := program.Build(t), t.TempDir()
	const rounds, groups = 8, 6

	p := launch(t, binary, data)
	root := caller(t, p)
	name := "q.fifo"
	attributes := map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true", "VisibilityTimeout": "0"}
	if _, err := root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: &name, Attributes: attributes,
	}); err != nil {
		t.Fatal(err)
	}
	for i := range groups {
		body, group := fmt.Sprint("of ", i), fmt.Sprint(i)
		if _, err := root.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &name, MessageBody: &body, MessageGroupId: &group,
		}); err != nil {
			t.Fatal(err)
		}
	}
	paused := make([]bool, groups)
	for range rounds {
		for range 1 + rng.IntN(5) {
			i := rng.IntN(groups)
			operation := "PauseMessageGroups"
			if paused[i] {
				operation = "ResumeMessageGroups"
			}
			status, out := root.Sluice(t, operation, apitest.Object{
				"QueueUrl": name, "MessageGroupIds": []string{fmt.Sprint(i)},
			})
			if status != http.StatusOK {
				t.Fatalf("%s: %d %v", operation, status, out)
			}
			paused[i] = !paused[i]
		}
		p.kill(t)
		p = launch(t, binary, data)
		root = caller(t, p)
		got, err := root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &name, MaxNumberOfMessages: 10,
		})
		if err != nil {
			t.Fatal(err)
		}
		given := make([]bool, groups)
		for _, m := range got.Messages {
			var i int
			if _, err := fmt.Sscanf(*m.Body, "of %d", &i); err != nil {
				t.Fatal(err)
			}
			given[i] = true
		}
		for i := range groups {
			if given[i] == paused[i] {
				t.Errorf("group %d: paused %t, received %t", i, paused[i], given[i])
			}
		}
	}
	p.stop(t)
}
