package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/command"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/test/program"
)

// sdk returns an SDK's client of a server. The client retries for as long as three nodes on a busy machine need to find
// an owner.
func sdk(s *serving) *sqs.Client {
	return sqs.New(sqs.Options{
		RetryMaxAttempts: 12,
		BaseEndpoint:     aws.String(s.exports["AWS_ENDPOINT_URL_SQS"]), Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{
				AccessKeyID: s.exports["AWS_ACCESS_KEY_ID"], SecretAccessKey: s.exports["AWS_SECRET_ACCESS_KEY"],
			}, nil
		}),
	})
}

func makeQueue(t *testing.T, c *sqs.Client, in *sqs.CreateQueueInput) string {
	t.Helper()
	out, err := c.CreateQueue(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return *out.QueueUrl
}

// drainQueue receives and deletes all messages of a queue, and returns them in order. It waits this many seconds for
// each further message.
func drainQueue(t *testing.T, c *sqs.Client, url string, wait int32) (all []types.Message) {
	t.Helper()
	for {
		got, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: 10, WaitTimeSeconds: wait,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Messages) == 0 {
			return all
		}
		all = append(all, got.Messages...)
		var gone []types.DeleteMessageBatchRequestEntry
		for i, m := range got.Messages {
			gone = append(gone, types.DeleteMessageBatchRequestEntry{
				Id: aws.String(fmt.Sprint(i)), ReceiptHandle: m.ReceiptHandle,
			})
		}
		if _, err := c.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{
			QueueUrl: &url, Entries: gone,
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// load is what is going on while a backup is made: messages are sent to a FIFO and to
// a standard queue, and messages of a few other queues, which no consumer deletes, go on to
// dead-letter queues; some of these are on other shards if there are several.
type load struct {
	client         *sqs.Client
	ordered, plain string
	doomed         []string

	sent   [2]atomic.Int64 // acknowledged sends to ordered and to plain
	failed int64           // sent to the doomed queues before the backup
	ctx    context.Context
	stop   context.CancelFunc
	over   sync.WaitGroup
}

const (
	doomedQueues   = 6
	doomedMessages = 200 // in each queue
)

func startLoad(t *testing.T, s *serving) *load {
	l := &load{client: sdk(s)}
	l.ordered = makeQueue(t, l.client, &sqs.CreateQueueInput{
		QueueName: aws.String("ordered.fifo"), Attributes: map[string]string{"FifoQueue": "true"},
	})
	l.plain = makeQueue(t, l.client, &sqs.CreateQueueInput{
		QueueName: aws.String("plain"), Tags: map[string]string{"sluice:shards": "3"},
	})
	for i := range doomedQueues {
		makeQueue(t, l.client, &sqs.CreateQueueInput{QueueName: aws.String(fmt.Sprint("end", i))})
		url := makeQueue(t, l.client,
			&sqs.CreateQueueInput{QueueName: aws.String(fmt.Sprint("doomed", i)), Attributes: map[string]string{
				"VisibilityTimeout": "0",
				"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:end%d","maxReceiveCount":1}`, i),
			}})
		l.doomed = append(l.doomed, url)
		for range doomedMessages / 10 {
			var entries []types.SendMessageBatchRequestEntry
			for i := range 10 {
				entries = append(entries, types.SendMessageBatchRequestEntry{
					Id: aws.String(fmt.Sprint(i)), MessageBody: aws.String(fmt.Sprint(l.failed)),
				})
				l.failed++
			}
			if _, err := l.client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{
				QueueUrl: &url, Entries: entries,
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.ctx, l.stop = ctx, cancel
	send := func(i int, in sqs.SendMessageInput) {
		for n := 0; ctx.Err() == nil; n++ {
			in.MessageBody = aws.String(fmt.Sprint(n))
			if i == 0 {
				in.MessageDeduplicationId = in.MessageBody
			}
			if _, err := l.client.SendMessage(context.WithoutCancel(ctx), &in); err != nil {
				t.Errorf("send: %v", err)
				return
			}
			l.sent[i].Store(int64(n + 1))
		}
	}
	l.over.Go(func() { send(0, sqs.SendMessageInput{QueueUrl: &l.ordered, MessageGroupId: aws.String("g")}) })
	l.over.Go(func() { send(1, sqs.SendMessageInput{QueueUrl: &l.plain}) })
	return l
}

// backUp makes a backup under load, and returns the number of messages that were acknowledged before it began.
func (l *load) backUp(t *testing.T, file string) (sent [2]int64) {
	t.Helper()
	return l.backUpBy(t, func() {
		t.Helper()
		if _, _, err := run(t, "backup", file); err != nil {
			t.Fatal(err)
		}
	})
}

// backUpBy is backUp with another way to make the backup.
func (l *load) backUpBy(t *testing.T, make func()) (sent [2]int64) {
	t.Helper()
	eventually.True(t, "busy", func() bool { return l.sent[0].Load() >= 20 && l.sent[1].Load() >= 20 })
	for i := range sent {
		sent[i] = l.sent[i].Load()
	}
	for _, url := range l.doomed {
		l.over.Go(func() {
			for l.ctx.Err() == nil {
				_, err := l.client.ReceiveMessage(l.ctx, &sqs.ReceiveMessageInput{
					QueueUrl: &url, MaxNumberOfMessages: 10,
				})
				if err != nil && l.ctx.Err() == nil {
					t.Errorf("receive: %v", err)
				}
			}
		})
	}
	make()
	l.stop()
	l.over.Wait()
	return sent
}

// copies are how often each message came, by the number that is its body and by its ID: a client that asked again may
// have sent a number as two messages.
type copies map[string]map[string]int

func (c copies) add(m types.Message) {
	if c[*m.Body] == nil {
		c[*m.Body] = make(map[string]int)
	}
	c[*m.Body][*m.MessageId]++
}

// once reports whether a number is there, and no message with it arrived twice.
func (c copies) once(n int64) bool {
	for _, times := range c[fmt.Sprint(n)] {
		if times != 1 {
			return false
		}
	}
	return len(c[fmt.Sprint(n)]) > 0
}

// check compares the contents of a restored server with the load.
func (l *load) check(t *testing.T, s *serving, sent [2]int64) {
	t.Helper()
	c := sdk(s)
	for i, name := range []string{"ordered.fifo", "plain"} {
		url, err := c.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
		if err != nil {
			t.Fatal(err)
		}
		got := drainQueue(t, c, *url.QueueUrl, 1)
		seen := make(copies)
		for at, m := range got {
			if seen.add(m); i == 0 && *m.Body != fmt.Sprint(at) {
				t.Errorf("%s: message %s is at place %d", name, *m.Body, at)
			}
		}
		for n := range sent[i] {
			if !seen.once(n) {
				t.Errorf("%s: message %d was acknowledged before the backup, and has the copies %v", name, n,
					seen[fmt.Sprint(n)])
			}
		}
		t.Logf("%s: %d messages, %d of them sent before the backup", name, len(got), sent[i])
	}
	// Wherever a message was on its way, it is there once.
	seen := make(copies)
	for end := time.Now().Add(time.Minute); len(seen) < int(l.failed) && time.Now().Before(end); {
		for i := range 2 * doomedQueues {
			name := fmt.Sprint([]string{"doomed", "end"}[i%2], i/2)
			url, err := c.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range drainQueue(t, c, *url.QueueUrl, 0) {
				seen.add(m)
			}
		}
	}
	wrong := 0
	for n := range l.failed {
		if !seen.once(n) {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("of %d messages for dead-letter queues, %d do not occur exactly once", l.failed,
			wrong)
	}
}

func TestBackupUnderLoadAndRestore(t *testing.T) {
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	as(t, s.exports, "")
	l := startLoad(t, s)
	file := filepath.Join(t.TempDir(), "backup.tar")
	sent := l.backUp(t, file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the backup: %v", info.Mode())
	}
	if _, _, err := run(t, "backup", file); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second backup of that name: %v", err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}

	restored := filepath.Join(t.TempDir(), "restored")
	if _, _, err := run(t, "restore", file, "--data", restored); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "doctor", "--data", restored); err != nil {
		t.Errorf("the doctor: %v", err)
	}
	again := serve(t, "--data", restored)
	if again.exports["AWS_SECRET_ACCESS_KEY"] != s.exports["AWS_SECRET_ACCESS_KEY"] {
		t.Error("the keys differ")
	}
	l.check(t, again, sent)
	if err := again.stop(); err != nil {
		t.Fatal(err)
	}

	// A new cluster's first node.
	first := filepath.Join(t.TempDir(), "first")
	if _, _, err := run(t, "restore", file, "--data", first); err != nil {
		t.Fatal(err)
	}
	l.check(t, serve(t, "--data", first, "--node", "x", "--cluster", "x=127.0.0.1:0", "--shards", "2"), sent)
}

func TestBackupOfSeveralShards(t *testing.T) {
	node := []string{"--node", "a", "--cluster", "a=127.0.0.1:0", "--shards", "3"}
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, append(node, "--data", data)...)
	as(t, s.exports, "")
	l := startLoad(t, s)
	file := filepath.Join(t.TempDir(), "backup.tar")
	sent := l.backUp(t, file)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	out, _, err := run(t, "doctor", "--data", data)
	if err != nil || !strings.Contains(out, "0003 queues") || !strings.Contains(out, "shards: 3, kept here: 3") ||
		!strings.Contains(out, "the cluster's log up to record") {
		t.Errorf("the doctor at the node: %v\n%s", err, out)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if out, _, err := run(t, "restore", file, "--data", restored); err != nil || !strings.Contains(out, "3 shards") {
		t.Fatalf("%v, printed %q", err, out)
	}
	if out, _, err := run(t, "doctor", "--data", restored); err != nil {
		t.Errorf("the doctor: %v\n%s", err, out)
	}
	if _, _, err := run(t, "serve", "--data", restored); err == nil ||
		!strings.Contains(err.Error(), "more than one shard") {
		t.Fatalf("a single server opens it: %v", err)
	}
	// With another name, in a cluster of another name, with other settings.
	again := serve(t, "--data", restored, "--node", "z", "--cluster", "z=127.0.0.1:0", "--cluster-name", "other",
		"--shards", "2")
	l.check(t, again, sent)
}

func TestBackupOfOneShardLeavesCluster(t *testing.T) {
	s := serve(t, "--node", "a", "--cluster", "a=127.0.0.1:0", "--shards", "1", "--data",
		filepath.Join(t.TempDir(), "data"))
	as(t, s.exports, "")
	l := startLoad(t, s)
	file := filepath.Join(t.TempDir(), "backup.tar")
	sent := l.backUp(t, file)
	restored := filepath.Join(t.TempDir(), "restored")
	if _, _, err := run(t, "restore", file, "--data", restored); err != nil {
		t.Fatal(err)
	}
	l.check(t, serve(t, "--data", restored), sent)
}

func TestRestoreRefusesWhatIsNotWhole(t *testing.T) {
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	as(t, s.exports, "")
	file := filepath.Join(t.TempDir(), "backup.tar")
	if _, _, err := run(t, "backup", file); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "to")
	if _, _, err := run(t, "restore", file, "--data", to); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("a truncated backup: %v", err)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Error("a directory remains")
	}
}

func TestBackupSaysWhatItHoldsAndCanBeVerified(t *testing.T) {
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	as(t, s.exports, "")
	file := filepath.Join(t.TempDir(), "backup.tar")
	said, _, err := run(t, "backup", file)
	if err != nil || !strings.Contains(said, file+" is whole: ") || !strings.Contains(said, "queues: 0, shards: 1") {
		t.Fatalf("%v, reported %q", err, said)
	}
	out, _, err := run(t, "backup", "--verify", file)
	if err != nil || out != said {
		t.Errorf("%v, reported %q", err, out)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(whole, []byte("aws_access_key_id"), []byte("aws_access_key_di"), 1)
	for what, stream := range map[string][]byte{"half": whole[:len(whole)/2], "damaged": damaged} {
		if err := os.WriteFile(file, stream, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := run(t, "backup", "--verify", file); !errors.Is(err, backup.ErrNoBackup) {
			t.Errorf("a backup that is %s: %v", what, err)
		}
	}
}

// A backup of a data directory needs the same program version as the directory.
func TestNewerFormatIsRefused(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data)
	as(t, s.exports, "")
	if err := datadir.Require(data, 99, "9.9"); err != nil {
		t.Fatal(err)
	}
	// The server that is running is then one of that newer version; only that it can
	// read the format is missing.
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "serve", "--data", data, "--listen", "127.0.0.1:0"); !errors.Is(err, datadir.ErrTooNew) ||
		!strings.Contains(err.Error(), "Sluice 9.9, format 99") {
		t.Errorf("serve: %v", err)
	}
	if _, _, err := run(t, "doctor", "--data", data); !errors.Is(err, datadir.ErrTooNew) || command.Status(err) != 2 {
		t.Errorf("doctor: %v, status %d", err, command.Status(err))
	}
	var stream bytes.Buffer
	about := backup.About{Version: "9.9", Shards: 1, Data: datadir.Format{Number: 99, Version: "9.9"}}
	if err := backup.Write(t.Context(), &stream, about, data); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.tar")
	if err := os.WriteFile(file, stream.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "restore", file, "--data", filepath.Join(t.TempDir(), "to")); !errors.Is(err,
		datadir.ErrTooNew) {
		t.Errorf("restore: %v", err)
	}
}

// With any umask of the process, and any modes that the embedded stores request, other users have no access to the data
// directory.
func TestDataAreForTheOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions work differently there")
	}
	for name, flags := range map[string][]string{
		"alone": nil, "node": {"--node", "a", "--cluster", "a=127.0.0.1:0", "--shards", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			s := serve(t, append(flags, "--data", data)...)
			if err := s.stop(); err != nil {
				t.Fatal(err)
			}
			files := 0
			err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				files++
				info, err := d.Info()
				if err == nil && info.Mode()&0o077 != 0 {
					t.Errorf("%s: %v", path, info.Mode())
				}
				return err
			})
			if err != nil || files < 5 {
				t.Errorf("%d files, %v", files, err)
			}
		})
	}
}

func TestServeKeepsOutOfForeignDirectories(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "readme.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "serve", "--data", data, "--listen", "127.0.0.1:0"); err == nil ||
		!strings.Contains(err.Error(), "readme.txt") {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) != 1 {
		t.Errorf("it has %v, %v", entries, err)
	}
}

func TestBackupIsForTheOperator(t *testing.T) {
	s := serve(t, "--in-memory")
	as(t, s.exports, "")
	refused := func(what, want string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "backup.tar")
		if _, _, err := run(t, "backup", file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %s", what, err, want)
		}
		if left, _ := filepath.Glob(file + "*"); len(left) > 0 {
			t.Errorf("%s: %v is left behind", what, left)
		}
	}
	refused("nothing is kept", "--in-memory")
	keys, _, err := run(t, "user", "create", "bob", "--managed", "AmazonSQSFullAccess")
	if err != nil {
		t.Fatal(err)
	}
	as(t, nil, keys)
	refused("a user of queues", "AccessDenied")
	as(t, s.exports, "")
	other, _, err := run(t, "account", "create")
	if err != nil {
		t.Fatal(err)
	}
	as(t, nil, other)
	refused("another account's root", "AccessDenied")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	refused("a wrong key", "Signature")
}

// freePorts returns addresses of this machine on which no program listens.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	addresses, err := freeport.Take(n)
	if err != nil {
		t.Fatal(err)
	}
	return addresses
}

// serveThree starts the nodes a, b and c, of which the named one has the directory data.
func serveThree(t *testing.T, node, data string, args ...string) map[string]*serving {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	var peers []string
	for i, address := range freePorts(t, 3) {
		peers = append(peers, string(rune('a'+i))+"="+address)
	}
	var mu sync.Mutex
	var starting sync.WaitGroup
	nodes := make(map[string]*serving)
	for _, name := range []string{"a", "b", "c"} {
		dir := filepath.Join(t.TempDir(), name)
		if name == node {
			dir = data
		}
		starting.Go(func() {
			s := serve(t,
				append([]string{"--data", dir, "--node", name, "--cluster", strings.Join(peers, ","),
					"--cluster-secret-file", secret}, args...)...)
			mu.Lock()
			defer mu.Unlock()
			nodes[name] = s
		})
	}
	starting.Wait()
	if len(nodes) < 3 {
		t.FailNow() // one of them has reported why
	}
	return nodes
}

// waitWell waits until the status reports that all is well.
func waitWell(t *testing.T, s *serving) {
	t.Helper()
	as(t, s.exports, "")
	t.Setenv("AWS_ENDPOINT_URL", s.exports["AWS_ENDPOINT_URL_SQS"])
	eventually.Succeeds(t, func() error {
		out, _, err := run(t, "cluster", "status")
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		return err
	})
}

func TestBackupOfThreeNodesMakesAnotherThree(t *testing.T) {
	program.Long(t)
	first := serveThree(t, "", "", "--shards", "3")
	waitWell(t, first["b"])
	l := startLoad(t, first["b"])
	file := filepath.Join(t.TempDir(), "backup.tar")
	sent := l.backUp(t, file)
	for _, s := range first {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}
	data := filepath.Join(t.TempDir(), "restored")
	if _, _, err := run(t, "restore", file, "--data", data); err != nil {
		t.Fatal(err)
	}
	second := serveThree(t, "c", data, "--cluster-name", "second")
	waitWell(t, second["b"])
	l.check(t, second["a"], sent)
	// The others have all of it, too.
	if _, _, err := run(t, "node", "drain", "c"); err != nil {
		t.Fatal(err)
	}
	if err := second["c"].stop(); err != nil {
		t.Error(err)
	}
	c := sdk(second["a"])
	url := makeQueue(t, c, &sqs.CreateQueueInput{QueueName: aws.String("after")})
	if _, err := c.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String("still here"),
	}); err != nil {
		t.Error(err)
	}
	if got := drainQueue(t, sdk(second["b"]), url, 1); len(got) != 1 {
		t.Errorf("after the first node has gone: %d messages", len(got))
	}
}
