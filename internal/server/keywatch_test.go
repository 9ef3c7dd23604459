package server

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/proof/transit"
)

// byService is the configuration of a server whose keys are sealed by a test's service.
func byService(dir string) Config {
	c := onDisk(filepath.Join(dir, "data"))
	c.EncryptionKeyURL = "hashivault://sluice"
	return c
}

// later is a clock that a test moves.
type later struct{ by atomic.Int64 }

func (l *later) now() time.Time       { return time.Now().Add(time.Duration(l.by.Load())) }
func (l *later) move(d time.Duration) { l.by.Add(int64(d)) }

// A key service seals the key of a new server. Together with the service, the backup is all that a restored server
// needs. A server does not start without the service, and changes nothing.
func TestKeyServiceAtStart(t *testing.T) {
	service := transit.Start(t)
	config := byService(t.TempDir())
	s, stop := start(t, config)
	file := filepath.Join(config.Data, SealedKeyFile)
	ring, err := keyring.Load(file)
	if err != nil || !ring.Sealed() || ring.First().ID() != s.secrecy.ring.First().ID() {
		t.Fatal(ring, err)
	}
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": plaintext})
	sealed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	clear, err := ring.Unseal(t.Context(), s.secrecy.watch.seals)
	if err != nil {
		t.Fatal(err)
	}
	if err := clear.Replace(file); err != nil { // for the next start, as sluice key reseal does
		t.Fatal(err)
	}
	archive := fetchedBackup(t, s)
	if !bytes.Contains(archive, sealed) {
		t.Error("the keys of the backup and of the server differ")
	}
	if err := ring.Replace(file); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if n := occurrences(t, config.Data, plaintext); n > 0 {
		t.Errorf("the text is readable %d times", n)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(c Config, says string) {
		t.Helper()
		if _, err := Start(c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
			t.Error("the file was changed:", err)
		}
	}
	service.Refuse(http.StatusForbidden, "permission denied")
	refused(config, "the key service denies the use of its key: Vault answers with status 403")
	service.Refuse(http.StatusServiceUnavailable, "Vault is sealed")
	refused(config, "the key service does not answer: Vault answers with status 503")
	service.Refuse(0, "")
	without := config
	without.EncryptionKeyURL = ""
	refused(without, "--encryption-key-url")
	without.EncryptionKeyFile = file
	refused(without, "a key service has sealed the keys")
	mixed := encrypted(t.TempDir())
	mixed.EncryptionKeyURL = config.EncryptionKeyURL
	if err := keyring.New(time.Now()).Create(mixed.EncryptionKeyFile); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(mixed); err == nil || !strings.Contains(err.Error(), "sluice key reseal") {
		t.Error(err)
	}

	restored := byService(t.TempDir())
	if _, err := backup.Restore(bytes.NewReader(archive), restored.Data,
		func(string, backup.About) error { return nil }); err != nil {
		t.Fatal(err)
	}
	again, _ := start(t, restored)
	c = clientOf(t, again, inJSON)
	c.Region = "us-east-1"
	if got := bodies(c, "q", 1); got[plaintext] == nil {
		t.Errorf("%v", got)
	}
}

// While the key service refuses, nothing is lost or stored in plaintext, and no receive counts.
func TestKeyServiceRefuses(t *testing.T) {
	service := transit.Start(t)
	clock := new(later)
	config := byService(t.TempDir())
	config.Now = clock.now
	s, _ := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{
		"QueueName":  "q",
		"Attributes": object{"KmsMasterKeyId": "alias/aws/sqs", "KmsDataKeyReusePeriodSeconds": "600"},
	})
	c.Make("CreateQueue", object{"QueueName": "new"})
	c.Make("CreateQueue", object{"QueueName": "clear", "Attributes": object{"SqsManagedSseEnabled": "false"}})
	send := object{"QueueUrl": c.URL("q"), "MessageBody": plaintext + "1"}
	c.Make("SendMessage", send)
	calls := service.Calls()

	watch := s.secrecy.watch
	for kind, r := range map[string]struct {
		why  error
		says string
	}{
		"NotFound":     {keyring.ErrNoKey, "The key alias/aws/sqs does not exist."},
		"Disabled":     {keyring.ErrDisabled, "The key alias/aws/sqs is disabled."},
		"AccessDenied": {keyring.ErrDenied, "The key service denies the use of the key alias/aws/sqs."},
		"InvalidState": {keyring.ErrInvalidState, "The state of the key alias/aws/sqs does not allow its use."},
	} {
		watch.note(fmt.Errorf("the service says: %w", r.why))
		c.Fails("SendMessage", object{"QueueUrl": c.URL("new"), "MessageBody": plaintext},
			modelled("Kms"+kind, "KMS."+kind+"Exception", 400, r.says))
	}
	watch.note(keyring.ErrInvalidState)
	refused := modelled("KmsInvalidState", "KMS.InvalidStateException", 400,
		"The state of the key alias/aws/sqs does not allow its use.")
	c.Make("SendMessage", send) // the data key in memory may be used until its period ends
	c.Make("SendMessage", object{"QueueUrl": c.URL("clear"), "MessageBody": "m"})
	if got := c.Make("ReceiveMessage", object{
		"QueueUrl": c.URL("q"), "VisibilityTimeout": 0,
	}); len(got["Messages"].(list)) != 1 {
		t.Errorf("%v", got)
	}
	clock.move(decryptsFor)
	c.Fails("ReceiveMessage", object{"QueueUrl": c.URL("q")}, refused)
	c.Make("SendMessage", send)
	clock.move(decryptsFor)
	c.Fails("SendMessage", send, refused)
	if len(c.Make("ReceiveMessage", object{"QueueUrl": c.URL("clear")})["Messages"].(list)) != 1 {
		t.Error("a plaintext message is not received")
	}
	if status, body := callAdmin(t, s, "PeekMessages",
		`{"QueueUrl":"`+c.URL("q")+`","IncludeBody":true}`); status != http.StatusOK ||
		strings.Contains(body, plaintext) {
		t.Errorf("%d %s", status, body)
	}

	watch.note(nil)
	got := c.Make("ReceiveMessage", object{
		"QueueUrl": c.URL("q"), "MaxNumberOfMessages": 10, "AttributeNames": list{"All"},
	})["Messages"].(list)
	if len(got) != 3 {
		t.Errorf("%d messages", len(got))
	}
	for _, m := range got {
		if n := m.(object)["Attributes"].(object)["ApproximateReceiveCount"]; n != "1" && n != "2" {
			t.Errorf("a refused receive counts: %v", m)
		}
	}
	if n := service.Calls() - calls; n != 0 {
		t.Errorf("messages took %d calls of the key service", n)
	}
	if n := occurrences(t, config.Data, plaintext); n > 0 {
		t.Errorf("the text is readable %d times", n)
	}
}

// A task that reads texts waits for the keys, instead of leaving messages in place.
func TestRedriveWaitsForKeyService(t *testing.T) {
	transit.Start(t)
	clock := new(later)
	config := byService(t.TempDir())
	config.Now = clock.now
	s, _ := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("CreateQueue", object{"QueueName": "to"})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": plaintext})
	watch := s.secrecy.watch
	watch.note(keyring.ErrDenied)
	clock.move(decryptsFor)
	status, body := callAdmin(t, s, "RedriveMessages",
		`{"QueueUrl":"`+c.URL("q")+`","DestinationArn":"`+c.ARN("to")+`","Filter":"`+plaintext+`"}`)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if status, body = callAdmin(t, s, "ListRedriveTasks", `{"QueueUrl":"`+c.URL("q")+`"}`); !strings.Contains(body,
		`"RUNNING"`) {
		t.Errorf("%d %s", status, body)
	}
	watch.note(nil)
	if got := bodies(c, "to", 1); got[plaintext] == nil {
		t.Errorf("%v", got)
	}
}

// decryptsFor is how long data keys decrypt after a suspension has begun.
const decryptsFor = 5 * time.Minute

// The server waits for a service that does not answer, and operators see it at once.
func TestKeyServiceIsSilent(t *testing.T) {
	transit.Start(t)
	clock := new(later)
	config := byService(t.TempDir())
	config.Now, config.MetricsListen, config.Logger = clock.now, "127.0.0.1:0", slog.New(slog.DiscardHandler)
	s, _ := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("CreateQueue", object{"QueueName": "r"})
	watch := s.secrecy.watch
	silent := errors.New("i/o timeout")

	clock.move(keyWatchPatience - time.Minute)
	if watch.note(silent) {
		t.Error("it opens the key")
	}
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
	described := &admin.ServerStatus{Nodes: []admin.NodeStatus{{Name: "a", KeyService: watch.describe()}}}
	if p := problems(new(status.Status), described); len(p) != 1 || !strings.Contains(p[0].Problem, "node a") ||
		!strings.Contains(p[0].Problem, "i/o timeout") {
		t.Errorf("the problems are %v", p)
	}
	clock.move(time.Minute)
	watch.note(silent)
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
	c.Fails("SendMessage", object{"QueueUrl": c.URL("r"), "MessageBody": "m"},
		modelled("KmsThrottled", "KMS.ThrottlingException", 400, "The key service does not answer. Try again later."))
	if text := exposed(t, s); !strings.Contains(text, "sluice_key_service_age_seconds 3") {
		t.Error("the metric is missing")
	}
	if err := watch.ring.Try(t.Context(), watch.seals); err != nil || !watch.note(err) {
		t.Error(err)
	}
	c.Make("SendMessage", object{"QueueUrl": c.URL("r"), "MessageBody": "m"})
	if p := problems(new(status.Status), &admin.ServerStatus{
		Nodes: []admin.NodeStatus{{KeyService: watch.describe()}},
	}); len(p) > 0 {
		t.Errorf("the problems are %v", p)
	}
}
