package jetstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog/logtest"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// TestBarrierPurgesNothing checks the sent requests, because some versions of NATS treat a purge without a subject, up
// to the first sequence, as a purge of everything.
func TestBarrierPurgesNothing(t *testing.T) {
	s := external(t, func(*natsserver.Options) {})
	ctx := testContext(t)
	conn := connectTo(t, s.ClientURL(), "test")
	l, err := conn.Log(ctx, "1", 1)
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{t: t, log: l}
	w.mustAppend(ctx, 3)
	requests, err := conn.nc.SubscribeSync(apiPurge + "*")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.check(ctx, l)
		m, err := requests.NextMsgWithContext(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var request purgeRequest
		if err := json.Unmarshal(m.Data, &request); err != nil {
			t.Fatal(err)
		}
		if request.Subject == "" || request.Subject == l.subject {
			t.Errorf("a barrier is the purge %s", m.Data)
		}
	}
	if err := l.Trim(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if _, e, err := l.Read(ctx, 3); err != nil || e.First != 3 || e.Last != 3 {
		t.Errorf("after a trim: %+v, %v", e, err)
	}
}

func TestServersThatCannotCarryLogs(t *testing.T) {
	t.Parallel()
	for version, taken := range map[string]bool{
		"2.10.29": false, "1.4.1": false, "": false, "dev": false, "2.11.0": true, "2.12.0-RC.1": true, "2.15.2": true,
		"3.0.0": true,
	} {
		if err := checkServer(version, MaxPayload); (err == nil) != taken {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

// TestStreamsOfOthers opens existing streams with other settings than Sluice's.
func TestStreamsOfOthers(t *testing.T) {
	s := external(t, func(*natsserver.Options) {})
	ctx := testContext(t)
	opened := 0
	for name, c := range map[string]struct {
		fit    bool
		change func(*js.StreamConfig)
	}{
		"as it is":                 {true, func(*js.StreamConfig) {}},
		"full at some size":        {true, func(s *js.StreamConfig) { s.MaxBytes, s.MaxMsgs = 1<<30, 1e6 }},
		"the oldest go at a size":  {false, func(s *js.StreamConfig) { s.MaxBytes, s.Discard = 1<<30, js.DiscardOld }},
		"the oldest go at a count": {false, func(s *js.StreamConfig) { s.MaxMsgs, s.Discard = 1000, js.DiscardOld }},
		"the oldest go with time":  {false, func(s *js.StreamConfig) { s.MaxAge = time.Hour }},
		"one per subject": {false, func(s *js.StreamConfig) {
			s.MaxMsgsPerSubject, s.Discard = 1,
				js.DiscardOld
		}},
		"a work queue":        {false, func(s *js.StreamConfig) { s.Retention = js.WorkQueuePolicy }},
		"in memory":           {false, func(s *js.StreamConfig) { s.Storage = js.MemoryStorage }},
		"more subjects":       {false, func(s *js.StreamConfig) { s.Subjects = append(s.Subjects, s.Name+".more") }},
		"without answers":     {false, func(s *js.StreamConfig) { s.NoAck = true }},
		"without purges":      {false, func(s *js.StreamConfig) { s.DenyPurge = true }},
		"without direct gets": {false, func(s *js.StreamConfig) { s.AllowDirect = false }},
		"short messages":      {false, func(s *js.StreamConfig) { s.MaxMsgSize = 1 << 20 }},
	} {
		t.Run(name, func(t *testing.T) {
			opened++
			conn := connectTo(t, s.ClientURL(), fmt.Sprint("theirs", opened))
			l, err := conn.Log(ctx, "1", 1)
			if err != nil {
				t.Fatal(err)
			}
			info, err := conn.info(ctx, l.stream)
			if err == nil {
				c.change(&info.Config)
				err = conn.js.DeleteStream(ctx, l.stream)
			}
			if err == nil {
				_, err = conn.js.CreateStream(ctx, info.Config)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Log(ctx, "1", 1); (err == nil) != c.fit {
				t.Errorf("%v", err)
			}
			leases, err := conn.Leases(ctx, leaseTTL, 1)
			if err != nil {
				t.Fatal(err)
			}
			if info, err = conn.info(ctx, leases.stream); err == nil {
				info.Config.MaxAge = 0
				_, err = conn.js.UpdateStream(ctx, info.Config)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Leases(ctx, leaseTTL, 1); err == nil {
				t.Error("leases that do not end are accepted")
			}
		})
	}
}

func connectTo(t *testing.T, url, cluster string) *Conn {
	t.Helper()
	conn, err := Connect(t.Context(), ConnectOptions{URL: url, Cluster: cluster, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// TestOtherNATS runs logs and leases on a NATS server of any version: the program that SLUICE_TEST_NATS names.
func TestOtherNATS(t *testing.T) {
	program := os.Getenv("SLUICE_TEST_NATS")
	if program == "" {
		t.Skip("SLUICE_TEST_NATS names no program")
	}
	url := startNATS(t, program)
	opened := 0
	fresh := func(t *testing.T) *Conn {
		t.Helper()
		opened++
		return connectTo(t, url, fmt.Sprint("other", opened))
	}
	logtest.TestLog(t, func(t *testing.T) sharedlog.Log {
		t.Helper()
		l, err := fresh(t).Log(testContext(t), "1", 1)
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
	logtest.TestLeases(t, func(t *testing.T) sharedlog.Leases {
		t.Helper()
		l, err := fresh(t).Leases(testContext(t), leaseTTL, 1)
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
}

// startNATS runs a NATS server as its operator would, until the test ends, and returns its URL.
func startNATS(t *testing.T, program string) string {
	t.Helper()
	address := freeAddresses(t, 1)[0]
	config := filepath.Join(t.TempDir(), "nats.conf")
	text := fmt.Sprintf("listen: %q\nmax_payload: %d\njetstream { store_dir: %q, sync_interval: always }\n", address,
		MaxPayload, t.TempDir())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config", config)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Kill(), ignoreExit(cmd.Wait())); err != nil {
			t.Error(err)
		}
	})
	ctx := testContext(t)
	for {
		nc, err := nats.Connect("nats://" + address)
		if err == nil {
			nc.Close()
			return "nats://" + address
		}
		if wait.For(ctx, 50*time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
}

// ignoreExit returns nil for the error of a killed process.
func ignoreExit(err error) error {
	if _, killed := errors.AsType[*exec.ExitError](err); killed {
		return nil
	}
	return err
}
