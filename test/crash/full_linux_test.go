package crash

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// smallDisk mounts an empty disk of this many bytes.
func smallDisk(t *testing.T, size int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("mounting a disk of its own takes root: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// hog fills the disk, and takes space that becomes free later, until it is stopped. Then it frees everything.
func hog(t *testing.T, dir string) (stop func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "other-data"))
	if err != nil {
		t.Fatal(err)
	}
	var enough atomic.Bool
	full, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for once := sync.OnceFunc(func() { close(full) }); !enough.Load(); time.Sleep(time.Millisecond) {
			if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("filling the disk up ends with %v", err)
			}
			once()
		}
	}()
	<-full
	return func() {
		enough.Store(true)
		<-done
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			t.Error(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// probe requests one of the health paths.
func probe(t *testing.T, c *workload.Client, path string) (status int, text string) {
	t.Helper()
	r, err := c.HTTP.Get(c.Endpoint + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// big returns a message of 100 KB that hardly compresses.
func big(queue string, n int) workload.Letter {
	noise := make([]byte, 75_000)
	rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(noise)
	return workload.Letter{Name: fmt.Sprintf("%s/big/%d/%s", queue, n, base64.URLEncoding.EncodeToString(noise))}
}

// TestDiskNearlyFull fills a disk with messages. The server stops accepting more before the disk is full, and users can
// remove messages, after which it accepts more.
func TestDiskNearlyFull(t *testing.T) {
	program.Long(t)
	t.Parallel()
	for name, empty := range map[string]func(*testing.T, *workload.Client){
		"deletes": func(t *testing.T, c *workload.Client) {
			for {
				messages, err := c.Receive("plain", workload.Receive{Most: 10, Timeout: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				if len(messages) == 0 {
					return
				}
				var handles []string
				for _, m := range messages {
					handles = append(handles, m.Handle)
				}
				if _, err := c.Remove("plain", handles); err != nil {
					t.Fatal(err)
				}
			}
		},
		"purge": func(t *testing.T, c *workload.Client) {
			if err := c.Purge("plain"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := smallDisk(t, 256<<20)
			p := launch(t, program.Build(t), filepath.Join(dir, "data"), "--min-free-space", "64MiB")
			c := p.ready(t)
			if err := c.Create(history.Queue{Name: "plain"}); err != nil {
				t.Fatal(err)
			}
			n := 0
			send := func() error {
				n++
				_, err := c.Send("plain", []workload.Letter{big("plain", n)})
				return err
			}
			var err error
			eventually.True(t, "refusal", func() bool {
				for err == nil {
					err = send()
				}
				return true
			})
			if !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "nearly full") {
				t.Errorf("refused with %v", err)
			}
			if err := c.Create(history.Queue{Name: "another"}); err == nil {
				t.Error("a queue was created")
			}
			if status, text := probe(t, c, "/readyz"); status != http.StatusOK ||
				!strings.Contains(text, "nearly full") {
				t.Errorf("/readyz: %d %s", status, text)
			}
			t.Logf("refused after %d messages", n)
			empty(t, c)
			eventually.True(t, "accepting again", func() bool { return send() == nil })
			if status, text := probe(t, c, "/readyz"); status != http.StatusOK || text != "ok\n" {
				t.Errorf("/readyz: %d %s", status, text)
			}
			p.stop(t)
			if log := p.log.String(); strings.Count(log, "the disk") != 2 {
				t.Errorf("logged: %s", log)
			}
		})
	}
}

// TestDiskFull lets another program take all free space of the disk, again and again, while all kinds of clients use
// the server. The server refuses what it cannot store, resumes by itself when it can, and has lost nothing. A server
// that is stopped or started while the disk is full ends.
func TestDiskFull(t *testing.T) {
	program.Long(t)
	t.Parallel()
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	rounds := number(t, "SLUICE_TEST_CRASH_ROUNDS", 3)
	t.Logf("SLUICE_TEST_CRASH_SEED=%d SLUICE_TEST_CRASH_ROUNDS=%d", seed, rounds)
	rng := rand.New(rand.NewPCG(seed, 3))
	dir := smallDisk(t, 256<<20)
	data := filepath.Join(dir, "data")
	binary := program.Build(t)
	j, h := newJournal(workload.WallClock{Began: time.Now()})
	users := workload.New(rng, workload.Options{Patient: true})

	p := launch(t, binary, data, "--min-free-space", "0")
	c := p.ready(t)
	establish(t, users, &workload.Recorder{Journal: j, Pick: workload.To(c), Worker: "test"})
	stuck := func() bool {
		status, text := probe(t, c, "/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(text, "it is full")
	}
	var free func()
	for round := range int(rounds) {
		last := round == int(rounds)-1
		var over atomic.Bool
		var all sync.WaitGroup
		for _, w := range users.Workers {
			all.Go(func() {
				for !over.Load() {
					r := &workload.Recorder{Journal: j, Pick: workload.To(c), Worker: w.Name()}
					for !r.Gone && !over.Load() {
						w.Step(r)
					}
					j.Sleep(20 * time.Millisecond)
				}
			})
		}
		j.Sleep(time.Duration(200+rng.IntN(800)) * time.Millisecond)
		better := j.Trouble("full disk", "")
		free = hog(t, dir)
		eventually.True(t, "stuck", stuck)
		if status, _ := probe(t, c, "/healthz"); status != http.StatusOK {
			t.Errorf("/healthz: %d", status)
		}
		err := c.Create(history.Queue{Name: "refused"})
		if err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "it is full") {
			t.Errorf("a queue is created on a full disk: %v", err)
		}
		j.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
		if !last {
			free()
			eventually.True(t, "going on", func() bool { return !stuck() })
			j.Sleep(100 * time.Millisecond)
		}
		over.Store(true)
		all.Wait()
		better()
	}
	c.Close()

	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; p.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("a server that is stopped while the disk is full ends with %v", err)
	}
	log := p.log.String()
	for words, want := range map[string]uint64{ // a background task may also log that the disk is full
		"requests are refused until it can": rounds, "sluice: the disk cannot be written: it is full": 1,
		"written again": rounds - 1, "panic": 0, "request failed": 0,
	} {
		if got := uint64(strings.Count(log, words)); got != want {
			t.Errorf("%q is %d times in the log, want %d:\n%s", words, got, want, log)
		}
	}
	refuses := func(words string) {
		t.Helper()
		p := launch(t, binary, data)
		for range p.endpoint {
			t.Error("the server reports that it serves")
		}
		if err := <-p.ended; p.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(p.log.String(), words) {
			t.Errorf("start ends with %v, want an error about %q\n%s", err, words, p.log.String())
		}
	}
	refuses("it is full")
	free()
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	refuses("it is read-only")
	remount(0)

	p = launch(t, binary, data, "--min-free-space", "0")
	c = p.ready(t)
	finish(&workload.Recorder{Journal: j, Pick: workload.To(c), Worker: "test"}, users)
	c.Close()
	p.stop(t)
	report(t, h, seed)
}
