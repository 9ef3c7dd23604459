package migrate

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fifo := rapid.Bool().Draw(t, "fifo")
		var messages []*received
		for range rapid.IntRange(0, 25).Draw(t, "messages") {
			body := strings.Repeat("x", rapid.SampledFrom([]int{1, 1000, 90_000, 300_000}).Draw(t, "size"))
			group := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")
			messages = append(messages, &received{Body: body, Attributes: map[string]string{"MessageGroupId": group}})
		}
		place := make(map[*received]int) // of a message, in the order of the sends
		for _, batch := range batches(messages, fifo) {
			bytes, groups := 0, make(map[string]bool)
			for _, m := range batch {
				if _, twice := place[m]; twice {
					t.Fatal("a message is sent twice")
				}
				if fifo && groups[m.group()] {
					t.Fatal("two messages of a group are in one batch")
				}
				place[m], groups[m.group()] = len(place), true
				bytes += m.size()
			}
			if len(batch) == 0 || len(batch) > mostMessages || len(batch) > 1 && bytes > mostBytes {
				t.Fatalf("a batch of %d messages and %d bytes", len(batch), bytes)
			}
		}
		if len(place) != len(messages) {
			t.Fatalf("%d of %d messages are sent", len(place), len(messages))
		}
		last := make(map[string]int)
		for _, m := range messages {
			if before, there := last[m.group()]; fifo && there && place[m] < before {
				t.Fatal("a message overtakes one of its group")
			}
			last[m.group()] = place[m]
		}
	})
}

func TestOutgoing(t *testing.T) {
	m := &received{
		MessageId: "id", Body: "b",
		Attributes: map[string]string{"MessageGroupId": "g", traceHeader: "Root=1-x", "SentTimestamp": "7"},
	}
	standard, fifo := m.outgoing(false), m.outgoing(true)
	if standard.DelaySeconds == nil || *standard.DelaySeconds != 0 || standard.MessageDeduplicationId != "" {
		t.Errorf("standard: %+v", standard)
	}
	if fifo.DelaySeconds != nil || fifo.MessageDeduplicationId != "id" || fifo.MessageGroupId != "g" {
		t.Errorf("FIFO: %+v", fifo)
	}
	if trace := fifo.MessageSystemAttributes[traceHeader]; trace.StringValue == nil ||
		*trace.StringValue != "Root=1-x" {
		t.Errorf("trace: %+v", trace)
	}
}
