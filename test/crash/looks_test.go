package crash

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/test/program"
)

// trio is a cluster of three nodes, and a caller of each.
type trio struct {
	*testing.T
	nodes   []*process
	callers []*apitest.Actor
}

func newTrio(t *testing.T) *trio {
	t.Helper()
	binary, dir := program.Build(t), t.TempDir()
	addresses, err := freeport.Take(3)
	if err != nil {
		t.Fatal(err)
	}
	var peers []string
	for i, address := range addresses {
		peers = append(peers, fmt.Sprintf("%c=%s", 'a'+i, address))
	}
	c := &trio{T: t}
	for i := range addresses {
		name := string(rune('a' + i))
		c.nodes = append(c.nodes,
			launch(t, binary, filepath.Join(dir, name), "--node", name, "--cluster", strings.Join(peers, ","),
				"--cluster-secret-file", filepath.Join(dir, "secret")))
	}
	for _, p := range c.nodes {
		c.callers = append(c.callers, caller(t, p))
	}
	// The nodes may still be looking for each other.
	eventually.Succeeds(t, func() error {
		for _, root := range c.callers {
			if _, err := root.SQS.ListQueues(t.Context(), &sqs.ListQueuesInput{}); err != nil {
				return err
			}
		}
		return nil
	})
	return c
}

// ask calls an operation of Sluice's own at a node.
func (c *trio) ask(node int, operation string, in apitest.Object) (out apitest.Object) {
	c.Helper()
	eventually.Succeeds(c.T, func() error { // a shard may have no owner for a moment
		var status int
		if status, out = c.callers[node].Sluice(c.T, operation, in); status != http.StatusOK {
			return fmt.Errorf("%s at node %d: %d %v", operation, node, status, out)
		}
		return nil
	})
	return out
}

// TestLooksIntoACluster looks into a queue on three shards of a cluster of three nodes, from each of them. A consumer
// that uses all nodes in turn is one consumer.
func TestLooksIntoACluster(t *testing.T) {
	program.Long(t)
	t.Parallel()
	c := newTrio(t)
	url := aws.String("wide")
	eventually.Succeeds(t, func() error {
		_, err := c.callers[0].SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{
			QueueName: url, Tags: map[string]string{"sluice:shards": "3"},
			Attributes: map[string]string{"VisibilityTimeout": "600"},
		})
		return err
	})
	const messages, received = 60, 12
	for i := range messages {
		eventually.Succeeds(t, func() error {
			_, err := c.callers[i%3].SQS.SendMessage(t.Context(), &sqs.SendMessageInput{
				QueueUrl: url, MessageBody: aws.String(fmt.Sprintf("message %02d", i)),
			})
			return err
		})
	}
	taken := 0
	for i := 0; taken < received; i++ {
		root := c.callers[i%3]
		got, err := root.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: url, WaitTimeSeconds: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got.Messages {
			taken++
			_, err := root.SQS.DeleteMessageBatch(t.Context(),
				&sqs.DeleteMessageBatchInput{QueueUrl: url, Entries: []types.DeleteMessageBatchRequestEntry{
					{Id: aws.String("a"), ReceiptHandle: m.ReceiptHandle},
				}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	left := float64(messages - taken)
	for node := range c.nodes {
		c.looks(node, float64(taken), left)
	}

	// A redrive that is started at one node is visible, and takes effect, at the others.
	if _, err := c.callers[1].SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("to"),
	}); err != nil {
		t.Fatal(err)
	}
	dry := c.ask(2, "RedriveMessages", apitest.Object{
		"QueueUrl": "wide", "DestinationArn": "arn:aws:sqs:us-east-1:000000000000:to", "DryRun": true, "Max": 500,
	})
	if n := len(dry["Messages"].([]any)); float64(n) != left {
		t.Errorf("a dry run shows %d messages of %v", n, left)
	}
	c.ask(2, "RedriveMessages", apitest.Object{
		"QueueUrl": "wide", "DestinationArn": "arn:aws:sqs:us-east-1:000000000000:to", "Filter": "sent>2020-01-01",
	})
	eventually.Succeeds(t, func() error {
		task := c.ask(0, "ListRedriveTasks", apitest.Object{"QueueUrl": "wide"})["Tasks"].([]any)[0].(apitest.Object)
		list := c.ask(1, "ListQueueStates", apitest.Object{"Prefix": "to"})["Queues"].([]any)[0].(apitest.Object)
		state, _ := list["State"].(apitest.Object)
		if task["Status"] != "COMPLETED" || task["Moved"] != left || state == nil || state["Visible"] != left {
			return fmt.Errorf("the task is %v, the queue %v", task, list)
		}
		return nil
	})

	c.nodes[2].kill(t)
	c.nodes = c.nodes[:2]
	out := c.ask(0, "ListConsumers", apitest.Object{"QueueUrl": "wide"})
	if n := len(out["Consumers"].([]any)); n != 1 {
		t.Errorf("without a node there are %d consumers", n)
	}
	for _, p := range c.nodes {
		if err := p.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-p.ended
	}
}

// looks looks into the queue from a node.
func (c *trio) looks(node int, taken, left float64) {
	c.Helper()
	in := apitest.Object{"QueueUrl": "wide"}
	consumers := c.ask(node, "ListConsumers", in)["Consumers"].([]any)
	if len(consumers) != 1 {
		c.Fatalf("node %d knows of %d consumers", node, len(consumers))
	}
	one := consumers[0].(apitest.Object)
	if one["Received"] != taken || one["Deleted"] != taken || one["Principal"] != "arn:aws:iam::000000000000:root" ||
		one["MedianTimeToDelete"] == nil {
		c.Errorf("node %d knows the consumer %v, which took %v", node, one, taken)
	}
	state := c.ask(node, "DescribeQueueState", in)
	if state["Visible"] != left || state["Receivable"] != true || len(state["Shards"].([]any)) != 3 {
		c.Errorf("from node %d: %v", node, state)
	}
	list := c.ask(node, "ListQueueStates", apitest.Object{"Prefix": "wide"})["Queues"].([]any)[0].(apitest.Object)
	st, ok := list["State"].(apitest.Object)
	// a moved shard counts from zero
	if !ok || st["Visible"] != left || st["Totals"].(apitest.Object)["Received"].(float64) > taken {
		c.Errorf("from node %d: %v", node, list)
	}
	// Page after page, each from another node.
	seen := make(map[any]bool)
	look := apitest.Object{"QueueUrl": "wide", "Max": 7, "IncludeBody": true}
	for page := node; ; page++ {
		out := c.ask(page%3, "PeekMessages", look)
		for _, m := range out["Messages"].([]any) {
			seen[m.(apitest.Object)["Body"]] = true
		}
		if look["Cursor"] = out["Cursor"]; out["Cursor"] == nil {
			break
		}
	}
	if float64(len(seen)) != left {
		c.Errorf("from node %d: %d messages of %v", node, len(seen), left)
	}
}
