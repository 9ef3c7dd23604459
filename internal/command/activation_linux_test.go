package command_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
)

// activated is set in a process that is a server and not the test.
const activated = "SLUICE_TEST_ACTIVATED"

// TestActivatedServer is not a test: TestSocketOfSystemd runs it in another process.
func TestActivatedServer(t *testing.T) {
	words := os.Getenv(activated)
	if words == "" {
		return
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	err := command.Run(ctx, strings.Fields(words), strings.NewReader(""), os.Stdout, os.Stderr)
	command.Explain(os.Stderr, err)
	os.Exit(command.Status(err))
}

// activate runs a server as systemd does: the sockets are the descriptors from 3 on, and LISTEN_PID is the server's.
func activate(t *testing.T, words string, sockets ...*os.File) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `LISTEN_PID=$$ exec "$0" -test.run '^TestActivatedServer$'`,
		self)
	cmd.Env = append(os.Environ(), activated+"="+words, "LISTEN_FDS="+string(rune('0'+len(sockets))))
	cmd.ExtraFiles = sockets
	return cmd
}

func socket(t *testing.T, address string) (*net.TCPListener, *os.File) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	tcp := l.(*net.TCPListener)
	file, err := tcp.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close(); _ = l.Close() }) // the server has its own
	return tcp, file
}

func TestSocketOfSystemd(t *testing.T) {
	l, file := socket(t, "127.0.0.1:0")
	dir := t.TempDir()
	var endpoints []string
	for range 2 { // the second server on the same socket
		cmd := activate(t, "serve --listen 127.0.0.1:1 --data "+dir+"/data", file)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if endpoint, ok := strings.CutPrefix(lines.Text(), "export AWS_ENDPOINT_URL_SQS="); ok {
				endpoints = append(endpoints, endpoint)
			}
			if strings.HasPrefix(lines.Text(), "export AWS_DEFAULT_REGION=") {
				break
			}
		}
		if _, _, err := run(t, "health", "--endpoint", "http://"+l.Addr().String()); err != nil {
			t.Error(err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if want := "http://" + l.Addr().String(); len(endpoints) != 2 || endpoints[0] != want || endpoints[1] != want {
		t.Errorf("the servers were at %v, not %s", endpoints, want)
	}
}

func TestSocketsThatAreRefused(t *testing.T) {
	_, one := socket(t, "127.0.0.1:0")
	_, two := socket(t, "127.0.0.1:0")
	_, open := socket(t, "0.0.0.0:0")
	for _, c := range []struct {
		sockets []*os.File
		want    string
	}{
		{[]*os.File{one, two}, "2 sockets were handed over, and one is wanted"},
		{[]*os.File{open}, "can be reached from other machines; give --tls-cert"},
	} {
		out, err := activate(t, "serve --in-memory", c.sockets...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %s", err, out)
		}
	}
}
