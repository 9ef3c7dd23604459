package jetstream

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// childEnv has the options of the server that this process runs instead of tests: one that can be killed and paused as
// only a process can.
const childEnv = "SLUICE_TEST_JETSTREAM_SERVER"

type childOptions struct {
	Name, Cluster, Dir, Listen string
	Routes                     []string
}

func TestMain(m *testing.M) {
	text, isChild := os.LookupEnv(childEnv)
	if !isChild {
		// The tests wait for elections and hardly compute, so more of them than there are processors can run at once.
		if err := flag.Set("test.parallel", "6"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	var o childOptions
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		_, err = Start(Options{
			Name: o.Name, Cluster: o.Cluster, Dir: o.Dir, Listen: o.Listen, Routes: o.Routes, Insecure: true,
			Log: slog.New(slog.DiscardHandler),
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // the parent's end closes when the parent ends
}

// child runs a server of the cluster, which must not be running, in a new process.
func (c *cluster) child(i int) *os.Process {
	c.t.Helper()
	o := c.options[i]
	text, err := json.Marshal(childOptions{o.Name, o.Cluster, o.Dir, o.Listen, o.Routes})
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0]) // this very program
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = in.Close()
	})
	return cmd.Process
}

// The leader's process is killed again and again during appends.
func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	w := &writer{t: t, log: c.log(0, "1")}
	at := followed(t, c.log(1, "1"))
	c.kill(2)
	for range 2 {
		victim := c.child(2)
		lead(t, w, "n2")
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if !w.append(ctx) {
					t.Errorf("appends do not continue after %d", w.at)
					return
				}
			}
		}()
		time.Sleep(50 * time.Millisecond)
		if err := victim.Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		close(stop)
		<-done
		w.mustAppend(ctx, 20)
		reach(t, ctx, at, w.at)
	}
	w.check(ctx, c.log(1, "1"))
}

// lead waits until a restarted server is up to date and leads.
func lead(t *testing.T, w *writer, server string) {
	t.Helper()
	ctx := testContext(t)
	for {
		w.mustAppend(ctx, 1)
		err := w.log.Lead(ctx, server)
		if err == nil {
			return
		}
		if wait.For(ctx, 100*time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
}
