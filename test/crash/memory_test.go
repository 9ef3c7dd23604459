package crash

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// TestLargeMessages sends, receives and deletes messages of the maximum size over many connections at once. The
// server's memory depends on the number of concurrent messages, not on their total.
func TestLargeMessages(t *testing.T) {
	program.Long(t)
	const (
		connections = 64
		size        = 1 << 20
		most        = 1 << 30 // bytes; four times the live data, and the store's memory
	)
	rounds := int(number(t, "SLUICE_TEST_LARGE_ROUNDS", 1))
	p := launch(t, program.Build(t), t.TempDir())
	c := p.ready(t)
	q := c.URL("large")
	err := c.Call("CreateQueue",
		workload.Object{"QueueName": "large", "Attributes": map[string]string{"MaximumMessageSize": fmt.Sprint(size)}},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", size)
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for range rounds {
				var out struct {
					Messages []struct{ Body, ReceiptHandle string }
				}
				err := c.Call("SendMessage", workload.Object{"QueueUrl": q, "MessageBody": text}, nil)
				if err == nil {
					err = c.Call("ReceiveMessage", workload.Object{"QueueUrl": q, "WaitTimeSeconds": 20}, &out)
				}
				if err == nil && (len(out.Messages) != 1 || out.Messages[0].Body != text) {
					err = errors.New("received something else than was sent")
				}
				if err == nil {
					err = c.Call("DeleteMessage",
						workload.Object{"QueueUrl": q, "ReceiptHandle": out.Messages[0].ReceiptHandle}, nil)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	took := p.memory("VmHWM")
	t.Logf("the server took at most %d MiB", took>>20)
	if took > most {
		t.Errorf("the server took %d MiB, want at most %d", took>>20, most>>20)
	}
	c.Close()
	p.stop(t)
}
