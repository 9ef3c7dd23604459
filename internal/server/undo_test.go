package server

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// Kept messages of a purge outlive a restart, in a data directory of the format that they need.
func TestUndoPurgeAfterARestart(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data = false, t.TempDir()
	s, stop := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1" // where callAdmin is
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "wanted"})
	c.Make("PurgeQueue", object{"QueueUrl": c.URL("q")})
	if f, err := datadir.ReadFormat(config.Data); err != nil || f.Number != formats.Kept {
		t.Errorf("the format is %d, %v", f.Number, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	s, _ = start(t, config)
	input := `{"QueueUrl":"` + c.URL("q") + `"}`
	if _, body := callAdmin(t, s, "DescribeQueueState", input); !strings.Contains(body, `"Undo":{"Messages":1`) {
		t.Errorf("%s", body)
	}
	if status, body := callAdmin(t, s, "UndoPurge", input); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	_, body := callAdmin(t, s, "PeekMessages", strings.TrimSuffix(input, "}")+`,"IncludeBody":true}`)
	if !strings.Contains(body, "wanted") {
		t.Errorf("%s", body)
	}
}

// A deleted queue comes back after a restart, with its messages. Once its time is over, its shard removes its data.
func TestUndoDeleteAfterARestart(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data, config.NoCoolDowns = false, t.TempDir(), true
	var shift atomic.Int64 // of the server's clock
	config.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	s, stop := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "wanted"})
	c.Make("DeleteQueue", object{"QueueUrl": c.URL("q")})
	if f, err := datadir.ReadFormat(config.Data); err != nil || f.Number != formats.Shelved {
		t.Errorf("the format is %d, %v", f.Number, err)
	}
	again := func() {
		t.Helper()
		if err := stop(); err != nil {
			t.Error(err)
		}
		s, stop = start(t, config)
		c = clientOf(t, s, inJSON)
		c.Region = "us-east-1"
	}
	again()
	if a := c.Call("GetQueueUrl", object{
		"QueueName": "q",
	}); a.Failed.Code != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("the name of a deleted queue gave %d %+v", a.Status, a.Failed)
	}
	input := `{"QueueName":"q"}`
	if status, body := callAdmin(t, s, "UndoDelete", input); status != http.StatusOK ||
		!strings.Contains(body, `"Messages":1`) {
		t.Errorf("%d %s", status, body)
	}
	again()
	peek := `{"QueueUrl":"` + c.URL("q") + `","IncludeBody":true}`
	if _, body := callAdmin(t, s, "PeekMessages", peek); !strings.Contains(body, "wanted") {
		t.Errorf("%s", body)
	}
	c.Make("DeleteQueue", object{"QueueUrl": c.URL("q")})
	queues := s.storage.catalog.Load()
	if len(queues.ToBury(config.Now(), true)) != 1 {
		t.Error("the deleted queue is not kept")
	}
	shift.Store(int64(catalog.UndoInterval))
	eventually.True(t, "buried", func() bool { return len(queues.ToBury(config.Now(), true)) == 0 })
	if status, body := callAdmin(t, s, "UndoDelete", input); status != http.StatusBadRequest {
		t.Errorf("an undo after ten minutes: %d %s", status, body)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	left, err := store.OpenReadOnly(filepath.Join(config.Data, ShardDir), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := queue.Range(1)
	if err := left.Scan(lo, hi, func(k, _ []byte) bool { t.Errorf("key %q is left", k); return false }); err != nil {
		t.Error(err)
	}
	if err := left.Close(); err != nil {
		t.Error(err)
	}
}

// With NoUndo nothing is kept, and what was kept before goes.
func TestNoUndo(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data, config.NoCoolDowns = false, t.TempDir(), true
	s, stop := start(t, config)
	lose := func(name string) {
		t.Helper()
		c := clientOf(t, s, inJSON)
		c.Region = "us-east-1"
		for _, queue := range []string{name + "-purged", name + "-deleted"} {
			c.Make("CreateQueue", object{"QueueName": queue})
			c.Make("SendMessage", object{"QueueUrl": c.URL(queue), "MessageBody": "m"})
		}
		c.Make("PurgeQueue", object{"QueueUrl": c.URL(name + "-purged")})
		c.Make("DeleteQueue", object{"QueueUrl": c.URL(name + "-deleted")})
	}
	lose("kept")
	if len(s.storage.catalog.Load().ToBury(config.Now(), true)) != 1 {
		t.Error("without NoUndo the deleted queue is not kept")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	config.NoUndo = true
	s, _ = start(t, config)
	lose("lost")
	undone := func(name string) bool {
		deleted, _ := callAdmin(t, s, "UndoDelete", `{"QueueName":"`+name+`-deleted"}`)
		purged, _ := callAdmin(t, s, "UndoPurge", `{"QueueUrl":"http://any/000000000000/`+name+`-purged"}`)
		return deleted == http.StatusOK || purged == http.StatusOK
	}
	eventually.True(t, "forgotten", func() bool {
		_, state := callAdmin(t, s, "DescribeQueueState", `{"QueueUrl":"http://any/000000000000/kept-purged"}`)
		return len(s.storage.catalog.Load().ToBury(config.Now(), true)) == 0 && !strings.Contains(state, "Undo")
	})
	for _, name := range []string{"kept", "lost"} {
		if undone(name) {
			t.Errorf("%s: undone", name)
		}
	}
}
