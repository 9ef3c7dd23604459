package crash

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// restarts is a cluster of three nodes with fixed addresses.
type restarts struct {
	*testing.T
	binary, dir string
	clients     []string // addresses, for clients
	peers       string
	running     [3]*process
}

func newRestarts(t *testing.T) *restarts {
	t.Helper()
	addresses, err := freeport.Take(6)
	if err != nil {
		t.Fatal(err)
	}
	r := &restarts{T: t, binary: program.Build(t), dir: t.TempDir(), clients: addresses[:3]}
	r.peers = fmt.Sprintf("a=%s,b=%s,c=%s", addresses[3], addresses[4], addresses[5])
	for i := range r.running {
		r.running[i] = r.start(i)
	}
	t.Cleanup(func() {
		for _, p := range r.running {
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
	})
	for i := range r.running {
		r.running[i].ready(t)
	}
	return r
}

func (r *restarts) start(i int) *process {
	r.Helper()
	name := string(rune('a' + i))
	return launch(r.T, r.binary, filepath.Join(r.dir, name), "--listen", r.clients[i], "--node", name, "--cluster",
		r.peers,
		"--cluster-secret-file", filepath.Join(r.dir, "secret"))
}

// endpoint is an environment variable with the addresses of all nodes.
func (r *restarts) endpoint() string {
	return "AWS_ENDPOINT_URL=http://" + strings.Join(r.clients, ",http://")
}

// isReady reports whether a node is ready.
func (r *restarts) isReady(i int) bool {
	answer, err := http.Get("http://" + r.clients[i] + "/readyz")
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// restart does what systemctl restart does on a machine, and returns before the node is ready. No other node may be
// away meanwhile.
func (r *restarts) restart(i int) {
	r.Helper()
	for other := range r.running {
		if other != i && !r.isReady(other) {
			r.Errorf("node %d is to be stopped while node %d is not ready", i, other)
		}
	}
	r.running[i].end(r.T)
	r.running[i] = r.start(i)
}

// serve executes the commands that arrive on a connection each, one line: ssh's arguments.
func (r *restarts) serve(l net.Listener, restarted *atomic.Int64) {
	for {
		connection, err := l.Accept()
		if err != nil {
			return
		}
		line, err := bufio.NewReader(connection).ReadString('\n')
		host, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if i := strings.IndexByte("abc", host[0]); err == nil && i >= 0 && command == "systemctl restart sluice" {
			r.restart(i)
			restarted.Add(1)
			_, _ = fmt.Fprintln(connection, "done")
		}
		_ = connection.Close()
	}
}

// ssh is the test's program of that name.
const ssh = `#!/bin/bash
exec 3<>/dev/tcp/%s
echo "$*" >&3
read -r answer <&3 && [ "$answer" = done ]
`

// documented returns the block of the documentation that restarts a cluster.
func documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)\n```\n").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(block[1], "systemctl restart sluice") {
			return block[1]
		}
	}
	t.Fatal("docs/cluster.md does not explain how to restart a cluster")
	return ""
}

// TestDocumentedRestart restarts the nodes of a cluster one after the other, with the commands of docs/cluster.md,
// while a client sends and receives. It gets no error, and every message once it is sent.
func TestDocumentedRestart(t *testing.T) {
	program.Long(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("bash is not installed: %v", err)
	}
	t.Parallel()
	script := documented(t)
	r := newRestarts(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var restarted atomic.Int64
	go r.serve(l, &restarted)
	bin := t.TempDir()
	text := fmt.Sprintf(ssh, strings.Replace(l.Addr().String(), ":", "/", 1))
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+":"+filepath.Dir(r.binary)+":"+os.Getenv("PATH"), r.endpoint(),
		"AWS_ACCESS_KEY_ID="+workload.Root.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+workload.Root.Secret)
	run := func(commands string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bash, "-c", commands)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v:\n%s\n%s", err, commands, out)
		}
	}
	run("sluice cluster status --wait --timeout 2m")

	user := newRestartUser(r)
	user.begin()
	run(script)
	user.end()
	if restarted.Load() != 3 {
		t.Errorf("%d nodes were restarted", restarted.Load())
	}
}

// restartUser sends and receives messages as programs do: with an SDK that retries, and under a name that has the
// addresses of all nodes.
type restartUser struct {
	*restarts
	queue *sqs.Client
	url   *string
	over  atomic.Bool
	all   sync.WaitGroup

	mu       sync.Mutex
	sent     map[string]bool // bodies of acknowledged sends
	received map[string]bool
}

func newRestartUser(r *restarts) *restartUser {
	r.Helper()
	var first atomic.Int64
	dial := func(ctx context.Context, network, _ string) (c net.Conn, err error) {
		n := int(first.Add(1))
		for i := range r.clients {
			if c, err = new(net.Dialer).DialContext(ctx, network, r.clients[(n+i)%len(r.clients)]); err == nil {
				return c, nil
			}
		}
		return nil, err
	}
	u := &restartUser{restarts: r, sent: make(map[string]bool), received: make(map[string]bool)}
	u.queue = sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://sqs.example:9324"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: workload.Root.AccessKeyID, SecretAccessKey: workload.Root.Secret}, nil
		}),
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = 10, 5*time.Second
			o.RateLimiter = noLimit{}
		}),
	})
	eventually.Succeeds(r.T, func() error {
		made, err := u.queue.CreateQueue(r.Context(), &sqs.CreateQueueInput{QueueName: aws.String("jobs")})
		if err == nil {
			u.url = made.QueueUrl
		}
		return err
	})
	return u
}

// noLimit lets a client retry without limit.
type noLimit struct{}

func (noLimit) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (noLimit) AddTokens(uint) error { return nil }

func (u *restartUser) begin() {
	u.all.Go(func() {
		for n := 0; !u.over.Load(); n++ {
			body := fmt.Sprint("message ", n)
			_, err := u.queue.SendMessage(u.Context(), &sqs.SendMessageInput{QueueUrl: u.url, MessageBody: &body})
			if err != nil {
				u.Errorf("%s is not sent: %v", body, err)
				return
			}
			u.mu.Lock()
			u.sent[body] = true
			u.mu.Unlock()
		}
	})
	u.all.Go(func() {
		for !u.over.Load() {
			if err := u.receive(); err != nil {
				u.Errorf("nothing is received: %v", err)
				return
			}
		}
	})
}

// receive receives some messages and deletes them.
func (u *restartUser) receive() error {
	got, err := u.queue.ReceiveMessage(u.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: u.url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1,
	})
	if err != nil {
		return err
	}
	for _, m := range got.Messages {
		if _, err := u.queue.DeleteMessage(u.Context(), &sqs.DeleteMessageInput{
			QueueUrl: u.url, ReceiptHandle: m.ReceiptHandle,
		}); err != nil {
			return err
		}
		u.mu.Lock()
		u.received[*m.Body] = true
		u.mu.Unlock()
	}
	return nil
}

// end stops sending and waits until all sent messages have been received.
func (u *restartUser) end() {
	u.Helper()
	u.over.Store(true)
	u.all.Wait()
	eventually.Succeeds(u.T, func() error {
		if err := u.receive(); err != nil {
			return err
		}
		var missing []string
		for body := range u.sent {
			if !u.received[body] {
				missing = append(missing, body)
			}
		}
		if slices.Sort(missing); len(missing) > 0 {
			return fmt.Errorf("%d of %d messages have not been received, such as %s", len(missing), len(u.sent),
				missing[0])
		}
		return nil
	})
	u.Logf("%d messages were sent and received", len(u.sent))
}
