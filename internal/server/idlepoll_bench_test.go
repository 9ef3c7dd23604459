//go:build unix

package server

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"
)

// idlePolls is the number of long polls that BenchmarkIdlePoll holds open, each on its own connection.
const idlePolls = 2000

// BenchmarkIdlePoll reports the memory of a waiting long poll in bytes: objects on the heap, stacks, and both. This
// includes the client's end of the connection, some 500 bytes. The time is meaningless.
func BenchmarkIdlePoll(b *testing.B) {
	c := newCaller(b, inMemory())
	go func() { _ = c.server.entrance.serve() }()
	defer func() { _ = c.server.entrance.plain.Close() }()
	poll := c.wire("ReceiveMessage", `{"QueueUrl":"`+c.queue+`","WaitTimeSeconds":20}`)
	for b.Loop() {
		heap, stacks := heapAndStacks()
		conns := make([]net.Conn, idlePolls)
		for i := range conns {
			conns[i] = c.connect()
			if _, err := conns[i].Write(poll); err != nil {
				b.Fatal(err)
			}
		}
		awaitPolls(b, idlePolls)
		moreHeap, moreStacks := heapAndStacks()
		if profile := os.Getenv("SLUICE_TEST_HEAP_PROFILE"); profile != "" {
			writeHeapProfile(b, profile)
		}
		moreHeap, moreStacks = (moreHeap-heap)/idlePolls, (moreStacks-stacks)/idlePolls
		b.ReportMetric(moreHeap, "heap-B/poll")
		b.ReportMetric(moreStacks, "stack-B/poll")
		b.ReportMetric(moreHeap+moreStacks, "B/poll")
		for _, conn := range conns {
			_ = conn.Close()
		}
		awaitPolls(b, 0)
	}
}

// connect connects to the server.
func (c *caller) connect() net.Conn {
	c.tb.Helper()
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", c.server.entrance.socket.Addr().String())
	if err != nil {
		c.tb.Fatal(err)
	}
	return conn
}

// wire returns a call as bytes on a connection.
func (c *caller) wire(operation, body string) []byte {
	var out bytes.Buffer
	if err := c.call(operation, body).request.Write(&out); err != nil {
		c.tb.Fatal(err)
	}
	return out.Bytes()
}

// awaitPolls waits until that many calls wait for messages.
func awaitPolls(b *testing.B, n int) {
	b.Helper()
	for end := time.Now().Add(time.Minute); pollsWaiting(b) != n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatalf("%d polls wait instead of %d", pollsWaiting(b), n)
		}
	}
	time.Sleep(100 * time.Millisecond) // until their clients are watched, too
}

// pollsWaiting returns the number of goroutines that wait for messages.
func pollsWaiting(b *testing.B) (n int) {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		b.Fatal(err)
	}
	_, groups, _ := strings.Cut(all.String(), "\n") // behind the heading
	for group := range strings.SplitSeq(groups, "\n\n") {
		if strings.Contains(group, "shard.(*Shard).Receive") {
			count, _, _ := strings.Cut(group, " @ ")
			some, _ := strconv.Atoi(count)
			n += some
		}
	}
	return n
}

// heapAndStacks returns the bytes of objects and of stacks after collections that let stacks shrink and empty pools.
func heapAndStacks() (heap, stacks float64) {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc), float64(m.StackInuse)
}

// writeHeapProfile writes a profile of the objects in use. The program's MemProfileRate determines its precision.
func writeHeapProfile(b *testing.B, file string) {
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(pprof.WriteHeapProfile(f), f.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
}
