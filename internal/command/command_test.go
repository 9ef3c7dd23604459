package command_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
)

// run executes the program to its end.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	err = command.Run(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), err
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// serving is a server that was started by command line.
type serving struct {
	exports map[string]string
	log     *buffer
	stop    func() error
}

var export = regexp.MustCompile(`^export ([A-Z_]+)=(.+)$`)

// serve starts a server and reads what it prints.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	s := &serving{exports: make(map[string]string), log: new(buffer)}
	done := make(chan error, 1)
	go func() {
		err := command.Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), in, s.log)
		in.CloseWithError(io.EOF)
		done <- err
	}()
	s.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = s.stop() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		m := export.FindStringSubmatch(lines.Text())
		if m == nil {
			t.Fatalf("printed %q", lines.Text())
		}
		s.exports[m[1]] = m[2]
		if m[1] == "AWS_DEFAULT_REGION" { // the last one
			return s
		}
	}
	t.Fatalf("the server did not start: %v", <-done)
	return nil
}

func TestServePrintsHowToReachIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", dir)
	for _, name := range []string{
		"AWS_ENDPOINT_URL_SQS", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION",
	} {
		if s.exports[name] == "" {
			t.Errorf("%s is not printed", name)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		r, err := http.Get(s.exports["AWS_ENDPOINT_URL_SQS"] + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "credentials"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("credentials have mode %o", info.Mode().Perm())
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if log := s.log.String(); strings.Contains(log, s.exports["AWS_SECRET_ACCESS_KEY"]) {
		t.Error("the secret is in the log")
	}

	again := serve(t, "--data", dir)
	if again.exports["AWS_SECRET_ACCESS_KEY"] != s.exports["AWS_SECRET_ACCESS_KEY"] {
		t.Error("the keys are others after a restart")
	}
}

func TestServeInMemorySaysThatNothingIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	s := serve(t, "--in-memory", "--log-format", "json")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	var line struct{ Level, Msg string }
	if err := json.Unmarshal([]byte(strings.SplitN(s.log.String(), "\n", 2)[0]), &line); err != nil {
		t.Fatal(err)
	}
	if line.Level != "WARN" || !strings.Contains(line.Msg, "NOTHING IS KEPT") {
		t.Errorf("logged %+v", line)
	}
	if files, _ := os.ReadDir("."); len(files) > 0 {
		t.Errorf("left %v behind", files)
	}
}

func TestKeysOfTheOperatorAreNotPrinted(t *testing.T) {
	t.Setenv("SLUICE_ROOT_ACCESS_KEY_ID", "AKIDOPERATOR")
	t.Setenv("SLUICE_ROOT_SECRET_ACCESS_KEY", "operators-secret")
	s := serve(t, "--in-memory")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for name, value := range s.exports {
		if strings.Contains(value, "operators-secret") {
			t.Errorf("%s is printed", name)
		}
	}
}

func TestMistakesAreNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ args, want string }{
		{"serve --listen 0.0.0.0:0", "--insecure"},
		{"serve --listen :0", "--insecure"},
		{"serve --listen nonsense", "host:port"},
		{"serve --account 12", "12 digits"},
		{"serve --region US!", "--region"},
		{"serve --tls-cert file", "--tls-key"},
		{"serve --root-access-key-id x", "--root-secret-access-key"},
		{"serve --public-url ftp://x", "--public-url"},
		{"serve --max-message-size 5", "--max-message-size"},
		{"serve --min-free-space much", "--min-free-space"},
		{"serve --min-free-space -1", "--min-free-space"},
		{"serve --log-format xml", "--log-format"},
		{"serve --log-level loud", "--log-level"},
		{"serve --data file/x", "not a directory"},
		{"serve extra", "unknown command"},
		{"serve --no-such-flag", "unknown flag"},
		{"no-such-command", "unknown command"},
		{"bench --preset huge", "--preset"},
		{"bench --batch 11", "--batch"},
		{"bench --pollers 5 --queues 6", "--queues"},
		{"bench --queues 6", "--pollers"},
		{"bench --pollers 5 --fifo", "pollers"},
		{"serve --max-connections -1", "--max-connections"},
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	for _, test := range tests {
		_, _, err := run(t, strings.Fields(test.args)...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want a word about %s", test.args, err, test.want)
		}
	}
}

func TestEnvironmentSetsFlags(t *testing.T) {
	t.Setenv("SLUICE_LOG_FORMAT", "xml")
	if _, _, err := run(t, "serve", "--in-memory"); err == nil || !strings.Contains(err.Error(), "--log-format") {
		t.Errorf("from the environment: %v", err)
	}
	t.Setenv("SLUICE_MAX_MESSAGE_SIZE", "many")
	if _, _, err := run(t, "serve", "--log-format", "text"); err == nil || !strings.Contains(err.Error(), "SLUICE_MAX_MESSAGE_SIZE") {
		t.Errorf("malformed: %v", err)
	}
}

func TestVersion(t *testing.T) {
	out, _, err := run(t, "version")
	if err != nil || !strings.HasPrefix(out, "sluice ") {
		t.Errorf("%q, %v", out, err)
	}
}
