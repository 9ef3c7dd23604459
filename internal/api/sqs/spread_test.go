package sqs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

func TestTagOfShards(t *testing.T) {
	t.Parallel()
	s := New(Options{Catalog: newCatalog(t), Shard: &failingShard{}})
	if _, err := invoke(t.Context(), t, s, "CreateQueue",
		`{"QueueName":"q","tags":{"sluice:shards":"64"}}`); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"", "0", "65", "-1", "+1", "01", "1.5", "two", " 1"} {
		for _, call := range []string{`CreateQueue {"QueueName":"new","tags":{"sluice:shards":"%s"}}`,
			`TagQueue {"QueueUrl":"q","Tags":{"sluice:shards":"%s"}}`} {
			op, input, _ := strings.Cut(call, " ")
			_, err := invoke(t.Context(), t, s, op, fmt.Sprintf(input, value))
			if err == nil || protocol.AsError(err).Code != "InvalidParameterValue" ||
				!strings.Contains(err.Error(), "Must be an integer from 1 to 64.") {
				t.Errorf("%s with %q: %v", op, value, err)
			}
		}
	}
}

// The log tells the operator that a queue is not spread as its tag says, and why.
func TestSpreadIsReported(t *testing.T) {
	t.Parallel()
	const groups = `"Attributes":{"FifoQueue":"true","DeduplicationScope":"messageGroup","FifoThroughputLimit":"perMessageGroupId"}`
	oneShard := func(q, old *catalog.Queue) {}
	sixShards := func(q, old *catalog.Queue) {
		switch {
		case q.Attributes.FIFO && old != nil, q.Attributes.FIFO && !q.Attributes.ByGroup():
		default:
			q.Shards = []int{1, 2, 3, 4, 5, 6}[:max(1, min(q.Spread(), 6))]
		}
	}
	for _, tc := range []struct {
		place         func(q, old *catalog.Queue)
		create, shard string
		want          string // empty: nothing is logged
	}{
		{oneShard, `{"QueueName":"q"}`, "1", ""},
		{oneShard, `{"QueueName":"q"}`, "3", "value=3 shards=1 reason=\"there are no more shards\""},
		{sixShards, `{"QueueName":"q"}`, "6", ""},
		{sixShards, `{"QueueName":"q"}`, "30", "value=30 shards=6 reason=\"there are no more shards\""},
		{sixShards, `{"QueueName":"q","tags":{"sluice:shards":"30"}}`, "",
			"value=30 shards=6 reason=\"there are no more shards\""},
		{sixShards, `{"QueueName":"q","tags":{"sluice:shards":"4"}}`, "", ""},
		{sixShards, `{"QueueName":"q.fifo","Attributes":{"FifoQueue":"true"},"tags":{"sluice:shards":"2"}}`, "",
			"value=2 shards=1 reason=\"a FIFO queue is spread only"},
		{sixShards, `{"QueueName":"q.fifo",` + groups + `,"tags":{"sluice:shards":"2"}}`, "", ""},
		{sixShards, `{"QueueName":"q.fifo",` + groups + `,"tags":{"sluice:shards":"2"}}`, "4",
			"value=4 shards=2 reason=\"a FIFO queue keeps"},
	} {
		var log strings.Builder
		s := New(Options{
			Catalog: newCatalogOf(t, tc.place), Shard: &failingShard{}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		call := func(op, input string) {
			t.Helper()
			if _, err := invoke(t.Context(), t, s, op, input); err != nil {
				t.Fatalf("%s %s: %v", op, input, err)
			}
		}
		call("CreateQueue", tc.create)
		call("CreateQueue", tc.create) // which exists
		if tc.shard != "" {
			name, _, _ := strings.Cut(strings.TrimPrefix(tc.create, `{"QueueName":"`), `"`)
			call("TagQueue", `{"QueueUrl":"`+name+`","Tags":{"sluice:shards":"`+tc.shard+`"}}`)
			call("TagQueue", `{"QueueUrl":"`+name+`","Tags":{"team":"a"}}`) // which needs no line
		}
		if lines := strings.Count(log.String(), "\n"); (lines == 1) != (tc.want != "") || lines > 1 ||
			!strings.Contains(log.String(), tc.want) {
			t.Errorf("%s, tagged with %q: the log has %q, want %q", tc.create, tc.shard, &log, tc.want)
		}
	}
}

// A tag that was set before its key was reserved can be removed.
func TestReservedTagsCanBeRemoved(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	s := New(Options{Catalog: c, Shard: &failingShard{}})
	if _, err := invoke(t.Context(), t, s, "CreateQueue", `{"QueueName":"q"}`); err != nil {
		t.Fatal(err)
	}
	n := queueNamed(c, "q").Name
	err := c.Change(t.Context(), func(tx *catalog.Tx) error {
		_, err := tx.Update(n, c.Find(n).ID,
			func(q *catalog.Queue) error { q.Tags = map[string]string{"sluice:shrads": "4"}; return nil })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := invoke(t.Context(), t, s, "TagQueue", `{"QueueUrl":"q","Tags":{"team":"a"}}`); err != nil {
		t.Errorf("another tag: %v", err)
	}
	if _, err := invoke(t.Context(), t, s, "UntagQueue", `{"QueueUrl":"q","TagKeys":["sluice:shrads"]}`); err != nil {
		t.Error(err)
	}
	if tags := c.Find(n).Tags; len(tags) != 1 || tags["team"] != "a" {
		t.Errorf("the tags are %v", tags)
	}
}

// Only a queue that really is spread must meet the conditions of spreading.
func TestSpreadQueueKeepsItsScope(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	s := New(Options{Catalog: c, Shard: &failingShard{}})
	for i, shards := range [][]int{nil, {3}, {3, 1, 2}} {
		name := fmt.Sprintf("q%d.fifo", i)
		_, err := invoke(t.Context(), t, s, "CreateQueue",
			`{"QueueName":"`+name+
				`","Attributes":{"FifoQueue":"true","DeduplicationScope":"messageGroup","FifoThroughputLimit":"perMessageGroupId"}}`)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Change(t.Context(), func(tx *catalog.Tx) error {
			n := catalog.Name{Account: account, Region: "us-east-1", Queue: name}
			_, err := tx.Update(n, c.Find(n).ID, func(q *catalog.Queue) error { q.Shards = shards; return nil })
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		set := func(attributes string) error {
			_, err := invoke(t.Context(), t, s, "SetQueueAttributes",
				`{"QueueUrl":"`+name+`","Attributes":{`+attributes+`}}`)
			return err
		}
		err = set(`"DeduplicationScope":"queue","FifoThroughputLimit":"perQueue"`)
		if spread := len(shards) > 1; (err != nil) != spread ||
			spread && protocol.AsError(err).Code != "InvalidAttributeValue" {
			t.Errorf("on shards %v: %v", shards, err)
		}
		if err := set(`"VisibilityTimeout":"5"`); err != nil {
			t.Errorf("another attribute: %v", err)
		}
	}
}

// partlyAway is a shard of which a part is unreachable.
type partlyAway struct{ failingShard }

func (partlyAway) Delete(_ context.Context, _ queue.ID, r []queue.Receipt) ([]error, error) {
	results := make([]error, len(r))
	results[0] = fmt.Errorf("%w: the node is gone", shard.ErrUnavailable)
	return results, nil
}

func TestEntriesOfAShardThatIsNotAvailable(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	s := New(Options{Catalog: c, Shard: &partlyAway{}})
	if _, err := invoke(t.Context(), t, s, "CreateQueue", `{"QueueName":"q"}`); err != nil {
		t.Fatal(err)
	}
	handle := newSealer(c.Secret(), nil).seal(1, queue.Receipt{Position: 1, Number: 1}, handles)
	out, err := invoke(t.Context(), t, s, "DeleteMessageBatch",
		`{"QueueUrl":"q","Entries":[{"Id":"a","ReceiptHandle":"`+handle+`"},{"Id":"b","ReceiptHandle":"`+handle+`"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	got := out.(*deleteMessageBatchOutput)
	if len(got.Successful) != 1 || got.Successful[0].Id != "b" || len(got.Failed) != 1 ||
		got.Failed[0].Id != "a" || got.Failed[0].Code != "ServiceUnavailable" || got.Failed[0].SenderFault {
		t.Errorf("got %+v", got)
	}
}
