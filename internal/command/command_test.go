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
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
)

// run executes the program to its end.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	err = command.Run(t.Context(), args, strings.NewReader(""), &out, &errs)
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

// serving is a server that was started from the command line.
type serving struct {
	exports map[string]string
	log     *buffer
	stop    func() error
}

var export = regexp.MustCompile(`^export ([A-Z_]+)=(.+)$`)

// serve starts a server and reads its output.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	s := &serving{exports: make(map[string]string), log: new(buffer)}
	done := make(chan error, 1)
	go func() {
		err := command.Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""),
			in, s.log)
		in.CloseWithError(io.EOF)
		done <- err
	}()
	s.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = s.stop() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "# ") { // which a shell skips
			continue
		}
		m := export.FindStringSubmatch(lines.Text())
		if m == nil {
			t.Fatalf("printed %q", lines.Text())
		}
		s.exports[m[1]] = m[2]
		if m[1] == "AWS_DEFAULT_REGION" { // the last one
			s.findKeys(t)
			return s
		}
	}
	t.Fatalf("the server did not start: %v", <-done)
	return nil
}

// findKeys reads the root's keys from the file that the server has named, because the server prints them only at a
// terminal.
func (s *serving) findKeys(t *testing.T) {
	t.Helper()
	file, profile := s.exports["AWS_SHARED_CREDENTIALS_FILE"], s.exports["AWS_PROFILE"]
	if file == "" {
		return
	}
	delete(s.exports, "AWS_SHARED_CREDENTIALS_FILE")
	delete(s.exports, "AWS_PROFILE")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("["+profile+"]\n"))
	key := regexp.MustCompile(`^aws_access_key_id = (.*)\naws_secret_access_key = (.*)\n`).FindSubmatch(text)
	if key == nil {
		t.Fatalf("%s has no profile %s", file, profile)
	}
	s.exports["AWS_ACCESS_KEY_ID"], s.exports["AWS_SECRET_ACCESS_KEY"] = string(key[1]), string(key[2])
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
		t.Error("the keys differ after a restart")
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
		{"serve --max-message-size many", `--max-message-size "many": want a whole number`},
		{"serve --min-free-space much", `--min-free-space "much": want a number of bytes`},
		{"serve --min-free-space -1", "--min-free-space"},
		{"serve --insecure=maybe", `--insecure "maybe": want true or false`},
		{"serve --log-format xml", `--log-format "xml": want text or json`},
		{"serve --log-level loud", `--log-level "loud": want debug, info, warn or error`},
		{"serve --log-level", "--log-level needs a value: want debug, info, warn or error"},
		{"serve --max-connections 0", "--max-connections \"0\": want a whole number, at least 1"},
		{"serve --max-connections -1", "--max-connections"},
		{"serve extra", `unknown argument "extra": sluice serve takes only flags; see sluice serve --help`},
		{"serve --dta x", "unknown flag --dta; did you mean --data?; see sluice serve --help"},
		{"serve --entirely-unlike", "unknown flag --entirely-unlike; see sluice serve --help"},
		{"serve --in-memory --data x", "--data has no effect with --in-memory"},
		{"serve --in-memory --min-free-space 1GiB", "--min-free-space has no effect with --in-memory"},
		{"serve --shards 12", "--shards has no effect without --node or --cluster or --nats"},
		{"serve --cluster-cert x", "--cluster-cert has no effect without --node or --cluster"},
		{"serve --node a --cluster a=127.0.0.1:0 --nats-creds x", "--nats-creds has no effect without --nats"},
		{"serve --node a --cluster b=127.0.0.1:0", "--node a: --cluster names no such node"},
		{"srve", `unknown command "srve"; did you mean serve?; see sluice --help`},
		{"help srve", `there is no command "srve" to help with`},
		{"help user remove", `there is no command "user remove"`},
		{"user remove x", `unknown command "remove"`},
		{"user delete", "NAME is missing: want sluice user delete NAME"},
		{"user delete a b", `"b" is too much: want sluice user delete NAME`},
		{"cluster certs --out x", "HOST is missing: want sluice cluster certs"},
		{"cluster certs a.example", "--out is missing: directory to write to"},
		{"bench --preset huge", `--preset "huge": want single, double or batched`},
		{"bench --batch 11", "--batch"},
		{"bench --duration long", `--duration "long": want a duration, such as 10s or 1m30s`},
		{"bench --pollers 5 --queues 6", "--queues"},
		{"bench --queues 6", "--queues has no effect without --pollers"},
		{"bench --pollers 5 --fifo", "--fifo has no effect with --pollers"},
		{"bench --groups 5", "--groups has no effect without --fifo"},
		{"torture --nodes 0", "--nodes"},
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	for _, test := range tests {
		_, _, err := run(t, strings.Fields(test.args)...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error about %s", test.args, err, test.want)
		}
		if command.Status(err) != 2 {
			t.Errorf("%s: status %d, want 2", test.args, command.Status(err))
		}
	}
	_, _, err := run(t, "serve", "--data", "file/x")
	if err == nil || !strings.Contains(err.Error(), "not a directory") || command.Status(err) != 1 {
		t.Errorf("an impossible directory: %v, status %d", err, command.Status(err))
	}
}

func TestEnvironmentSetsFlags(t *testing.T) {
	tests := []struct{ set, args, want string }{
		{"SLUICE_LOG_FORMAT=xml", "serve --in-memory",
			`SLUICE_LOG_FORMAT "xml": want text or json; see sluice serve --help`},
		{"SLUICE_MAX_MESSAGE_SIZE=many", "serve", `SLUICE_MAX_MESSAGE_SIZE "many": want a whole number`},
		{"SLUICE_INSECURE=maybe", "serve", `SLUICE_INSECURE "maybe": want true or false`},
		{"SLUICE_REGION=US!", "serve", "(--region is set by SLUICE_REGION)"},
		{"SLUICE_LISTENN=127.0.0.1:1", "serve",
			"the environment has SLUICE_LISTENN, and there is no such flag; did you mean SLUICE_LISTEN?"},
		{"SLUICE_SHARDS=3", "serve",
			"--shards has no effect without --node or --cluster or --nats (--shards is set by SLUICE_SHARDS)"},
		{"SLUICE_IN_MEMORY=1", "serve --data x",
			"--data has no effect with --in-memory (--in-memory is set by SLUICE_IN_MEMORY)"},
		{"SLUICE_ACCOUNT=000000000000,12", "serve", `--account "12"`},
	}
	for _, test := range tests {
		name, value, _ := strings.Cut(test.set, "=")
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, _, err := run(t, strings.Fields(test.args)...)
			if err == nil || !strings.Contains(err.Error(), test.want) || command.Status(err) != 2 {
				t.Errorf("%s sluice %s: %v, status %d, want %s", test.set, test.args, err, command.Status(err),
					test.want)
			}
		})
	}
}

// An image may set its directory in the environment, and Kubernetes sets variables there for a service called sluice.
func TestEnvironmentThatIsNoMistake(t *testing.T) {
	t.Setenv("SLUICE_DATA", t.TempDir())
	t.Setenv("SLUICE_TLS_KEY", "") // ignored
	t.Setenv("SLUICE_SERVICE_HOST", "10.0.0.1")
	t.Setenv("SLUICE_SERVICE_PORT_HTTP", "9324")
	t.Setenv("SLUICE_PORT", "tcp://10.0.0.1:9324")
	t.Setenv("SLUICE_PORT_9324_TCP_ADDR", "10.0.0.1")
	t.Setenv("SLUICE_METRICS_SERVICE_HOST", "10.0.0.1")
	t.Setenv("SLUICE_DURATION", "1s") // of another command
	if err := serve(t, "--in-memory").stop(); err != nil {
		t.Error(err)
	}
}

func TestVersion(t *testing.T) {
	t.Setenv("SLUICE_NO_SUCH", "thing") // keeps the output from being empty
	long, _, err := run(t, "version")
	if err != nil || !strings.HasPrefix(long, "sluice ") || !strings.Contains(long, runtime.Version()) {
		t.Errorf("%q, %v", long, err)
	}
	for _, flag := range []string{"--version", "-v"} {
		if out, _, err := run(t, flag); err != nil || out != long {
			t.Errorf("%s: %q, %v, want %q", flag, out, err, long)
		}
	}
	out, _, err := run(t, "version", "--json")
	var got struct{ Version, Go, Platform string }
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || got.Version == "" || got.Go != runtime.Version() ||
		got.Platform != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%s, %v", out, err)
	}
}

// Lists and deletions are found under the names of the shell and of IAM, in every group of commands.
func TestSynonyms(t *testing.T) {
	for _, words := range []string{"queue list", "queue delete", "topic list", "topic delete", "alarm list", "user ls",
		"user rm", "account ls", "account rm"} {
		args := strings.Fields(words)
		out, _, err := run(t, append(args, "--help")...)
		if err != nil || !strings.Contains(out, "Usage:\n  sluice "+args[0]) || strings.Contains(out, "COMMAND") {
			t.Errorf("%s: %v, %s", words, err, out)
		}
	}
}
