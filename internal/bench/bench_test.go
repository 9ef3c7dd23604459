package bench_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/bench"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// serve runs a server in memory and returns its client settings.
func serve(t *testing.T) bench.Target {
	t.Helper()
	c := server.Default()
	c.InMemory, c.Listen = true, "127.0.0.1:0"
	s, _ := servertest.Start(t, c)
	root := s.Root()
	return bench.Target{
		Endpoints: []string{s.Endpoint()}, Region: "us-east-1", KeyID: root.AccessKeyID, Secret: root.Secret,
	}
}

func load() bench.Config {
	return bench.Config{
		Producers: 3, Consumers: 3, Batch: 1, Size: 200, Duration: 300 * time.Millisecond, Groups: 7,
	}
}

func TestEverythingArrives(t *testing.T) {
	target := serve(t)
	tests := map[string]func(*bench.Config){
		"single calls":    func(*bench.Config) {},
		"batches":         func(c *bench.Config) { c.Batch = 10 },
		"FIFO":            func(c *bench.Config) { c.FIFO, c.Batch = true, 10 },
		"one FIFO group":  func(c *bench.Config) { c.FIFO, c.Batch, c.Groups = true, 10, 1 },
		"with a backlog":  func(c *bench.Config) { c.Backlog, c.Batch = 333, 10 },
		"large messages":  func(c *bench.Config) { c.Size = 300_000 },
		"at a rate":       func(c *bench.Config) { c.Rate = 1000 },
		"only a producer": func(c *bench.Config) { c.Consumers, c.ServerPID = 0, os.Getpid() },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load()
			c.Target = target
			change(&c)
			r, err := bench.Run(t.Context(), c, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if r.Errors > 0 || r.Produced == 0 || r.Faults(c.FIFO) != "" {
				t.Errorf("%d errors (%s), %d produced, faults %q", r.Errors, r.LastError, r.Produced, r.Faults(c.FIFO))
			}
			if v := r.Verdict; c.Consumers > 0 && (v.Received != v.Sent || v.Sent < r.Produced+uint64(c.Backlog)) {
				t.Errorf("produced %d, verdict %+v", r.Produced, v)
			}
		})
	}
}

func TestPollersAreServed(t *testing.T) {
	target := serve(t)
	for _, queues := range []int{1, 7, 40} {
		t.Run(fmt.Sprint(queues), func(t *testing.T) {
			t.Parallel()
			c := load()
			c.Target, c.Pollers, c.Queues, c.ServerPID = target, 40, queues, os.Getpid()
			r, err := bench.RunPollers(t.Context(), c, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if r.Errors > 0 || r.Sent == 0 || r.Faults() != "" || r.Arrival.Count != r.Sent || r.Send.Count != r.Sent {
				t.Errorf("%+v", r)
			}
		})
	}
}

// fake is a queue that misbehaves.
type fake struct {
	mu       sync.Mutex
	sends    int
	messages []string
	lose     int  // one in this many
	repeat   bool // receive everything twice
	reverse  bool
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var in struct{ MessageBody string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	switch _, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); operation {
	case "CreateQueue":
		fmt.Fprint(w, `{"QueueUrl":"http://fake/q"}`)
	case "SendMessage":
		f.sends++
		if f.lose == 0 || f.sends%f.lose != 0 {
			f.messages = append(f.messages, in.MessageBody)
		}
		fmt.Fprint(w, `{}`)
	case "ReceiveMessage":
		if len(f.messages) < 2 {
			time.Sleep(time.Millisecond)
			fmt.Fprint(w, `{}`)
			return
		}
		i := 0
		if f.reverse {
			i = len(f.messages) - 1
		}
		body := f.messages[i]
		f.messages = append(f.messages[:i:i], f.messages[i+1:]...)
		if f.repeat {
			f.messages = append(f.messages, body)
			f.repeat = false
		}
		fmt.Fprintf(w, `{"Messages":[{"ReceiptHandle":"h","Body":%q}]}`, body)
	}
}

func TestFaultsAreSeen(t *testing.T) {
	tests := map[string]struct {
		fake *fake
		want string
	}{
		"lost":         {&fake{lose: 10}, "lost"},
		"twice":        {&fake{repeat: true}, "twice"},
		"out of order": {&fake{reverse: true}, "order"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := httptest.NewServer(test.fake)
			defer endpoint.Close()
			c := load()
			c.Producers, c.Consumers, c.Groups, c.FIFO = 1, 1, 1, true
			c.Target = bench.Target{
				Endpoints: []string{"http://127.0.0.1:1", endpoint.URL}, Region: "us-east-1", KeyID: "k", Secret: "s",
			}
			r, err := bench.Run(t.Context(), c, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			// The fake keeps its last message, which is also a loss.
			faults := r.Faults(true)
			if name != "lost" && r.Verdict.Lost <= 1 {
				r.Verdict.Lost = 0
				faults = r.Faults(true)
			}
			if !strings.Contains(faults, test.want) {
				t.Errorf("faults %q, verdict %+v", faults, r.Verdict)
			}
		})
	}
}

func TestConfigIsChecked(t *testing.T) {
	tests := map[string]func(*bench.Config){
		"--producers": func(c *bench.Config) { c.Producers, c.Consumers = 0, 0 },
		"--rate":      func(c *bench.Config) { c.Rate, c.Producers = 5, 0 },
		"--batch":     func(c *bench.Config) { c.Batch = 11 },
		"--size":      func(c *bench.Config) { c.Size = 5 },
		"--duration":  func(c *bench.Config) { c.Duration = 0 },
		"--groups":    func(c *bench.Config) { c.Groups = 0 },
		"--backlog":   func(c *bench.Config) { c.Backlog = -1 },
		"--pollers":   func(c *bench.Config) { c.Pollers = -1 },
		"--queues":    func(c *bench.Config) { c.Pollers, c.Queues = 5, 6 },
	}
	for flag, spoil := range tests {
		c := load()
		spoil(&c)
		if _, err := bench.Run(t.Context(), c, io.Discard); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// The server's processor time is divided by the calls and by the messages of the measurement.
func TestProcessorTimeIsPrinted(t *testing.T) {
	r := bench.Report{
		Produced: 100, Consumed: 50, ServerCPU: 3 * time.Millisecond,
		Calls: []bench.Call{{Operation: "SendMessage", Count: 100}, {Operation: "ReceiveMessage", Count: 50}},
	}
	var out strings.Builder
	r.Print(&out)
	if want := "the server took 20.0 µs of processor time a call, 30.0 µs a message\n"; !strings.Contains(out.String(),
		want) {
		t.Errorf("%q is missing in\n%s", want, out.String())
	}
}
