package shard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// The bytes that a shard stores for an account are counted, and weighed on request.
func TestStored(t *testing.T) {
	config := func(id queue.ID, account string) queue.Config {
		return queue.Config{
			ID: id, ARN: fmt.Sprintf("arn:aws:sqs:us-east-1:%s:q%d", account, id), Visibility: 30 * time.Second,
			Retention: time.Hour,
		}
	}
	const one, two, three = "111111111111", "222222222222", "333333333333"
	st, err := store.Open("store", store.Options{Disk: store.NewMemoryDisk(nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	r := openWith(t, st, time.Now, config(1, one), config(2, one), config(3, two), config(4, three))
	send := func(id queue.ID, size int) {
		t.Helper()
		if _, err := r.Send(t.Context(), id, []queue.Outgoing{{Body: strings.Repeat("x", size)}}); err != nil {
			t.Fatal(err)
		}
	}
	send(1, 1000)
	send(2, 2000)
	send(3, 500)
	send(4, 100)
	found, err := r.Stored(t.Context(), map[string]bool{one: true, two: false})
	if err != nil || len(found) != 2 || found[one].Messages != 2 || found[two] != (shard.Stored{Messages: 1}) {
		t.Fatal(found, err)
	}
	if bytes := found[one].Bytes; bytes < 3000 || bytes > 3000+2*2*queue.RecordBytes {
		t.Errorf("%d bytes", bytes)
	}
	send(1, 10_000)
	if err := r.Purge(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if kept, err := r.Kept(t.Context(), 2); err != nil || kept.Bytes < 2000 || kept.Bytes > 2000+2*queue.RecordBytes {
		t.Errorf("the purged queue keeps %+v, %v", kept, err)
	}
	found, err = r.Stored(t.Context(), map[string]bool{one: true})
	if bytes := found[one].Bytes; err != nil || found[one].Messages != 2 || bytes < 11_000 ||
		bytes > 11_000+2*2*queue.RecordBytes {
		t.Error(found, err)
	}
}
