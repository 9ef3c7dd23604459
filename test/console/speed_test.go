package console

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/server"
)

// TestSpeed measures the waiting times of a person in the console, and the cost of an open tab for a server with 10,000
// queues, one of them with a million messages, on a disk. It prints the figures without judging them, because machines
// and their load differ.
func TestSpeed(t *testing.T) {
	if os.Getenv("SLUICE_TEST_CONSOLE_SPEED") == "" {
		t.Skip("this test takes seven minutes: set SLUICE_TEST_CONSOLE_SPEED=1")
	}
	installed(t)
	const queues, messages, seconds = 10_000, 1_000_000, 60
	s := start(t, func(c *server.Config) { c.InMemory, c.Data = false, t.TempDir() })
	client := sqs.New(sqs.Options{
		BaseEndpoint: aws.String(s.Endpoint()), Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: s.Root().AccessKeyID, SecretAccessKey: s.Root().Secret}, nil
		}),
	})
	inParallel(t, queues, func(ctx context.Context, i int) error {
		_, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(fmt.Sprintf("speed-%05d", i))})
		return err
	})
	const batch = 10
	inParallel(t, messages/batch, func(ctx context.Context, i int) error {
		entries := make([]types.SendMessageBatchRequestEntry, batch)
		for j := range entries {
			entries[j].Id = aws.String(strconv.Itoa(j))
			entries[j].MessageBody = aws.String(fmt.Sprintf(
				`{"order": {"id": %d, "customer": "c-%d"}, "note": "%0200d"}`, i*batch+j, i%1000, 0,
			))
		}
		out, err := client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{
			QueueUrl: aws.String("speed-00000"), Entries: entries,
		})
		if err == nil && len(out.Failed) > 0 {
			err = fmt.Errorf("not sent: %s", aws.ToString(out.Failed[0].Message))
		}
		return err
	})
	t.Logf("%d queues, one of them with %d messages; %d processors; load of the machine: %s", queues, messages,
		runtime.NumCPU(), load())
	browse(t, s, s.Endpoint(), "test/speed.mjs",
		"SLUICE_SPEED_QUEUES="+strconv.Itoa(queues), "SLUICE_SPEED_MESSAGES="+strconv.Itoa(messages),
		"SLUICE_SPEED_SECONDS="+strconv.Itoa(seconds), "SLUICE_SPEED_SERVER="+strconv.Itoa(os.Getpid()))
	t.Logf("load of the machine at the end: %s", load())
}

// inParallel calls do with 0 to n-1, sixteen at a time.
func inParallel(t *testing.T, n int, do func(ctx context.Context, i int) error) {
	t.Helper()
	const atOnce = 16
	var group sync.WaitGroup
	errs := make([]error, atOnce)
	for worker := range atOnce {
		group.Go(func() {
			for i := worker; i < n && errs[worker] == nil; i += atOnce {
				errs[worker] = do(t.Context(), i)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// load returns the load of the machine, where it is known.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	return string(text)
}
