package shard_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/queue"
)

// After a send has succeeded, nothing uses the memory of its bodies any more, even if other calls were in the
// transaction: the sender may write to it at once, as the encryption of messages does.
func TestMemoryOfSentBodies(t *testing.T) {
	t.Parallel()
	const senders, sends, size = 8, 40, 2000
	r := newRig(t)
	var received atomic.Int64
	var sending, receiving sync.WaitGroup
	for n := range senders {
		sending.Go(func() {
			memory := make([]byte, size)
			for i := range sends {
				fill := byte('a' + (n+i)%26)
				copy(memory, bytes.Repeat([]byte{fill}, size))
				body := unsafe.String(unsafe.SliceData(memory), size)
				id, one := jobs, queue.Outgoing{Body: body}
				switch i % 4 {
				case 0:
					id, one.Group, one.Dedup = orders, fmt.Sprint(n), fmt.Sprint(n, i)
				case 1:
					one.Group = "g"
				case 2:
					one.Delay = new(time.Millisecond)
				}
				if _, err := r.Send(t.Context(), id, []queue.Outgoing{one}); err != nil {
					t.Error(err)
				}
				copy(memory, bytes.Repeat([]byte{'!'}, size))
			}
		})
	}
	done := make(chan struct{})
	for n := range 4 {
		id := []queue.ID{jobs, orders}[n%2]
		receiving.Go(func() {
			for {
				got, err := r.Receive(t.Context(), id, queue.Receive{Max: 10}, 100*time.Millisecond)
				if err != nil {
					t.Error(err)
					return
				}
				var receipts []queue.Receipt
				for _, m := range got {
					if m.Body == "" || m.Body[0] == '!' || len(m.Body) != size || m.Body[1:] != m.Body[:size-1] {
						t.Errorf("received %.20q", m.Body)
					}
					receipts = append(receipts, queue.Receipt{Position: m.Position, Number: m.Receipt})
				}
				received.Add(int64(len(got)))
				if _, err := r.Delete(t.Context(), id, receipts); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					if len(got) == 0 {
						return
					}
				default:
				}
			}
		})
	}
	sending.Wait()
	close(done)
	receiving.Wait()
	if n := received.Load(); n != senders*sends {
		t.Errorf("of %d messages, %d were received", senders*sends, n)
	}
}
