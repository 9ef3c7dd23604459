package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
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
