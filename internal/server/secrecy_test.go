package server

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// plaintext is the text that tests look for. It does not compress.
const plaintext = "q7Zx0Vk3"

// encrypted is the configuration of a server on a disk that encrypts messages.
func encrypted(dir string) Config {
	c := onDisk(filepath.Join(dir, "data"))
	c.EncryptionKeyFile = filepath.Join(dir, "keys")
	return c
}

func md5Of(body string) string { return fmt.Sprintf("%x", md5.Sum([]byte(body))) }

// occurrences counts how often a text occurs in the files of a directory.
func occurrences(t *testing.T, dir, text string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		n += bytes.Count(b, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fill sends messages to a queue, ten at a time, whose bodies and attributes have the plaintext.
func fill(t *testing.T, s *Server, queue string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for from := 0; from < n; from += n / 4 {
		all.Go(func() {
			c := clientOf(t, s, inJSON)
			c.Region = "us-east-1"
			for i := from; i < from+n/4; i += 10 {
				var entries list
				for j := i; j < i+10; j++ {
					entries = append(entries, object{
						"Id": fmt.Sprint("m", j), "MessageBody": fmt.Sprint(plaintext, " body ", j),
						"MessageAttributes": object{"kind": text(fmt.Sprint(plaintext, " value ", j))},
					})
				}
				if a := c.Call("SendMessageBatch", object{
					"QueueUrl": c.URL(queue), "Entries": entries,
				}); a.Status != http.StatusOK {
					t.Error(a.Status, string(a.Body))
				}
			}
		})
	}
	all.Wait()
}

// No file of a data directory, and no backup, contains the text of a message of an encrypted queue.
func TestNothingReadableIsStored(t *testing.T) {
	t.Parallel()
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			t.Parallel()
			config := encrypted(t.TempDir())
			if !on {
				config.EncryptionKeyFile = ""
			}
			s, _ := start(t, config)
			c := clientOf(t, s, inJSON)
			c.Region = "us-east-1"
			c.Make("CreateQueue", object{"QueueName": "q"})
			fill(t, s, "q", n)
			backup := fetchedBackup(t, s)
			stored, saved := occurrences(t, config.Data, plaintext), bytes.Count(backup, []byte(plaintext))
			if on && stored+saved > 0 {
				t.Errorf("%d texts are readable in the data directory, %d in a backup", stored, saved)
			}
			if !on && stored < 2*n*9/10 { // a log may divide some texts
				t.Errorf("without encryption %d texts of %d messages are found", stored, n)
			}
			f, err := datadir.ReadFormat(config.Data)
			if err != nil || on && f.Number < formats.Encrypted {
				t.Errorf("the format is %d, %v", f.Number, err)
			}
			got := c.Make("ReceiveMessage", object{
				"QueueUrl": c.URL("q"), "MessageAttributeNames": list{"All"}, "MaxNumberOfMessages": 10,
			})
			for _, m := range got["Messages"].(list) {
				m := m.(object)
				body := m["Body"].(string)
				if !strings.HasPrefix(body, plaintext+" body ") || m["MD5OfBody"] != md5Of(body) ||
					m["MessageAttributes"] == nil {
					t.Errorf("%v", m)
				}
			}
		})
	}
}

// fetchedBackup returns a backup of a server.
func fetchedBackup(t *testing.T, s *Server) []byte {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.Endpoint()+BackupPath, nil)
	apitest.Must(t, r, err)
	apitest.SignAt(t, r, s.Root(), admin.ServiceName, "us-east-1", time.Now())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	return b
}

// bodies receives and deletes the messages of a queue, and returns their bodies.
func bodies(c *client, queue string, n int) map[string]object {
	c.T.Helper()
	all := make(map[string]object)
	for range 20 {
		got := c.Make("ReceiveMessage", object{
			"QueueUrl": c.URL(queue), "MessageAttributeNames": list{"All"}, "AttributeNames": list{"All"},
			"MaxNumberOfMessages": 10, "WaitTimeSeconds": 5,
		})
		messages, _ := got["Messages"].(list)
		for _, m := range messages {
			m := m.(object)
			all[m["Body"].(string)] = m
			c.Make("DeleteMessage", object{"QueueUrl": c.URL(queue), "ReceiptHandle": m["ReceiptHandle"]})
		}
		if len(all) >= n {
			break
		}
	}
	return all
}

// Messages stay readable wherever they go, and encrypted.
func TestEncryptedMessagesTravel(t *testing.T) {
	t.Parallel()
	config := encrypted(t.TempDir())
	s, _ := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "plain", "Attributes": object{"SqsManagedSseEnabled": "false"}})
	c.Make("CreateQueue", object{
		"QueueName": "secret", "Attributes": object{"RedrivePolicy": redrive(c.ARN("plain"), "1")},
	})
	c.Make("CreateQueue", object{
		"QueueName": "secret.fifo", "Attributes": object{"FifoQueue": "true", "KmsMasterKeyId": "alias/aws/sqs"},
	})
	c.Make("CreateQueue", object{"QueueName": "back"})
	send := func(body string) {
		t.Helper()
		attributes := object{"a": text(plaintext + "value")}
		c.Make("SendMessage", object{"QueueUrl": c.URL("secret"), "MessageBody": body, "MessageAttributes": attributes})
	}
	send(plaintext + "dead")
	c.Make("ReceiveMessage", object{"QueueUrl": c.URL("secret"), "VisibilityTimeout": 0})
	c.Make("ReceiveMessage", object{"QueueUrl": c.URL("secret")})

	peek := func(input, want string) {
		t.Helper()
		status, body := callAdmin(t, s, "PeekMessages", `{"QueueUrl":"`+c.URL("plain")+`","IncludeBody":true`+input+`}`)
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", input, status, body)
		}
	}
	peek("", plaintext+"dead")
	peek(`,"Filter":"`+plaintext+`dead"`, plaintext+"dead")
	peek(`,"Filter":"another"`, `"Messages":[]`)

	// One task edits the dead letter and moves it elsewhere; another moves it back unchanged.
	status, body := callAdmin(t, s, "RedriveMessages",
		`{"QueueUrl":"`+c.URL("plain")+`","DestinationArn":"`+c.ARN("back")+
			`","Filter":"dead","Edit":{"SetAttributes":{"b":{"DataType":"String","StringValue":"`+plaintext+`edit"}}}}`)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	eventually.True(t, "the message has arrived", func() bool {
		const count = "ApproximateNumberOfMessages"
		got := c.Make("GetQueueAttributes", object{"QueueUrl": c.URL("back"), "AttributeNames": list{count}})
		return got["Attributes"].(object)[count] == "1"
	})
	c.Make("StartMessageMoveTask", object{"SourceArn": c.ARN("plain"), "DestinationArn": c.ARN("back")})
	moved := bodies(c, "back", 1)
	if m := moved[plaintext+"dead"]; m == nil || len(m["MessageAttributes"].(object)) != 2 ||
		m["MD5OfBody"] != md5Of(plaintext+"dead") {
		t.Errorf("%v", moved)
	}
	send(plaintext + "dead again")
	c.Make("ReceiveMessage", object{"QueueUrl": c.URL("secret"), "VisibilityTimeout": 0})
	c.Make("ReceiveMessage", object{"QueueUrl": c.URL("secret")})
	c.Make("DeleteQueue", object{"QueueUrl": c.URL("secret")}) // the dead letter outlives its queue
	redrive := `{"QueueUrl":"` + c.URL("plain") + `","DestinationArn":"` + c.ARN("back") + `"}`
	if status, body := callAdmin(t, s, "RedriveMessages", redrive); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if moved := bodies(c, "back", 1); moved[plaintext+"dead again"] == nil {
		t.Errorf("%v", moved)
	}

	publishes(t, s, c)
	if n := occurrences(t, config.Data, plaintext); n > 0 {
		t.Errorf("%d texts are readable in the data directory", n)
	}
}

// publishes publishes to topics with subscriptions of all kinds.
func publishes(t *testing.T, s *Server, c *client) {
	root := s.Root()
	topics := func(op string, params ...string) string {
		t.Helper()
		form := url.Values{"Action": {op}, "Version": {"2010-03-31"}}
		for i := 0; i < len(params); i += 2 {
			form.Set(params[i], params[i+1])
		}
		status, body := call(t, s, "sns", form.Encode(), &root)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", op, status, body)
		}
		return body
	}
	for _, kind := range []string{"", ".fifo"} {
		arn := apitest.Element(topics("CreateTopic", "Name", "news"+kind, "Attributes.entry.1.key", "FifoTopic",
			"Attributes.entry.1.value", fmt.Sprint(kind != "")), "TopicArn")
		subscribers := map[string]bool{"a" + kind: false, "b" + kind: true, "c" + kind: false}
		for name, raw := range subscribers {
			allow := allowing("*", "sqs:SendMessage", c.ARN(name), "")
			attributes := object{"Policy": `{"Version":"2012-10-17","Statement":[` + allow + "]}"}
			if kind != "" {
				maps.Copy(attributes, object{"FifoQueue": "true"})
			}
			c.Make("CreateQueue", object{"QueueName": name, "Attributes": attributes})
			topics("Subscribe", "TopicArn", arn, "Protocol", "sqs", "Endpoint", c.ARN(name), "Attributes.entry.1.key",
				"RawMessageDelivery",
				"Attributes.entry.1.value", fmt.Sprint(raw))
		}
		for _, size := range []int{1, 200_000} { // the larger one waits in the backlog
			message := plaintext + strings.Repeat("m", size)
			params := []string{"TopicArn", arn, "Message", message, "MessageAttributes.entry.1.Name", "x",
				"MessageAttributes.entry.1.Value.DataType", "String",
				"MessageAttributes.entry.1.Value.StringValue", plaintext + "attribute"}
			if kind != "" {
				params = append(params, "MessageGroupId", "g", "MessageDeduplicationId", fmt.Sprint(size))
			}
			topics("Publish", params...)
			for name, raw := range subscribers {
				got := bodies(c, name, 1)
				for body, m := range got {
					var envelope struct{ Message, SequenceNumber string }
					if !raw && (json.Unmarshal([]byte(body), &envelope) != nil || envelope.Message != message ||
						(envelope.SequenceNumber != "") != (kind != "")) ||
						raw && (body != message || len(m["MessageAttributes"].(object)) != 1) ||
						m["MD5OfBody"] != md5Of(body) {
						t.Errorf("%s has %.200s", name, body)
					}
				}
				if len(got) != 1 {
					t.Errorf("%s has %d messages", name, len(got))
				}
			}
		}
	}
}

// answering is a node whose other nodes have keys.
type answering struct {
	Node
	keys   [][]string
	silent []string
	away   []string
}

func (a *answering) Status() (s status.Status) {
	s.Nodes = []status.Node{{Name: "a", Live: true}}
	for _, name := range a.away {
		s.Nodes = append(s.Nodes, status.Node{Name: name})
	}
	return s
}

func (a *answering) Ask(_ context.Context, question []byte) (answers [][]byte, silent []string) {
	p := newPeers(nil)
	for _, ids := range a.keys {
		p.prepared = make(chan struct{})
		p.prepare(nil, nil, func() []string { return ids })
		answer, err := p.answer(context.Background(), question)
		if err != nil {
			panic(err)
		}
		answers = append(answers, answer)
	}
	return answers, a.silent
}

// A node of a cluster encrypts with a key when all nodes have it, and with the previous key until then.
func TestNodesAgreeOnKeys(t *testing.T) {
	t.Parallel()
	records, err := store.OpenMemory(store.Options{})
	apitest.Must(t, records, err)
	t.Cleanup(func() { apitest.Must(t, 0, records.Close()) })
	c := control.New(control.Options{Store: records})
	node := new(answering)
	var old error
	used, err := encryption.OpenUsed(c, control.Formats{Ready: func(int) error { return old }})
	apitest.Must(t, used, err)
	newNode := func(ring *keyring.Ring) *secrecy {
		s := &secrecy{
			log: slog.New(slog.DiscardHandler), storage: &storage{node: node, control: c}, used: used, ring: ring,
			cipher: encryption.New(ring, time.Now),
		}
		s.use()
		return s
	}
	first := keyring.New(time.Now())
	s := newNode(first)
	refused := func(says string) {
		t.Helper()
		if err := s.agree(t.Context()); err == nil || !strings.Contains(err.Error(), says) || len(s.missing()) == 0 {
			t.Error(err)
		}
	}
	node.silent = []string{"c"}
	refused("the node c does not answer")
	node.silent, node.away = nil, []string{"c"}
	refused("the node c is away")
	node.away, node.keys = nil, [][]string{s.ids(), nil}
	refused("a node does not have the key " + first.First().ID())
	node.keys, old = [][]string{s.ids(), s.ids()}, errors.New("the node c is too old")
	refused("the node c is too old")
	if s.cipher.Encrypts() {
		t.Error("messages are encrypted too early")
	}
	old = nil
	if err := s.agree(t.Context()); err != nil || len(s.missing()) > 0 {
		t.Fatal(err)
	}
	prepared, err := first.Prepare(time.Now())
	apitest.Must(t, prepared, err)
	rotated, err := prepared.Rotate(time.Now())
	apitest.Must(t, rotated, err)
	s = newNode(rotated)
	refused("a node does not have the key " + rotated.First().ID())
	if s.cipher.Check(first.First().ID()) != nil || s.cipher.Check(rotated.First().ID()) == nil {
		t.Error("a key encrypts that some node lacks")
	}
	node.keys = [][]string{s.ids()}
	if err := s.agree(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.use(); s.cipher.Check(rotated.First().ID()) != nil {
		t.Error("the new key does not encrypt")
	}
}

// Without the right keys a server does not start, and changes nothing. With a rotated file it reads the old messages.
func TestStartsWithItsKeysOnly(t *testing.T) {
	t.Parallel()
	config := encrypted(t.TempDir())
	s, stop := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "one"})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(config.EncryptionKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	old, err := keyring.Load(config.EncryptionKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what, says string) {
		t.Helper()
		if _, err := Start(config); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(config.EncryptionKeyFile, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file[:len(file)-30])
	refused("a truncated file", "is damaged")
	if err := keyring.New(time.Now()).Replace(config.EncryptionKeyFile); err != nil {
		t.Fatal(err)
	}
	refused("another key", "lacks the key "+old.First().ID())
	if err := os.Remove(config.EncryptionKeyFile); err != nil {
		t.Fatal(err)
	}
	refused("no file", "restore the file from a copy")
	if _, err := os.Stat(config.EncryptionKeyFile); err == nil {
		t.Error("a new key replaced one that is needed")
	}
	path := config.EncryptionKeyFile
	config.EncryptionKeyFile = ""
	refused("no flag", "--encryption-key-file")
	config.EncryptionKeyFile = path
	rotated, err := old.Rotate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := rotated.Replace(path); err != nil {
		t.Fatal(err)
	}
	s, stop = start(t, config)
	region := c.Region
	c = clientOf(t, s, inJSON)
	c.Region = region
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "two"})
	if got := bodies(c, "q", 2); got["one"] == nil || got["two"] == nil {
		t.Errorf("%v", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	write(file)
	refused("the file before the rotation", "lacks the key "+rotated.First().ID())
}

// A queue whose key the server lacks accepts no messages, as on AWS. Its earlier messages can be received.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	config := encrypted(t.TempDir())
	s, _ := start(t, config)
	for _, d := range apitest.Dialects {
		c := clientOf(t, s, d)
		c.Make("CreateQueue", object{"QueueName": "q"})
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "before"})
		c.Make("SetQueueAttributes", object{
			"QueueUrl": c.URL("q"), "Attributes": object{"KmsMasterKeyId": "alias/other"},
		})
		c.Fails("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "x"},
			modelled("KmsNotFound", "KMS.NotFoundException", 400, "The key alias/other does not exist."))
		if got := bodies(c, "q", 1); got["before"] == nil {
			t.Errorf("%v", got)
		}
		ring, err := keyring.Load(config.EncryptionKeyFile)
		if err != nil {
			t.Fatal(err)
		}
		c.Make("SetQueueAttributes", object{
			"QueueUrl": c.URL("q"), "Attributes": object{"KmsMasterKeyId": ring.First().ID()},
		})
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "after"})
		if got := bodies(c, "q", 1); got["after"] == nil {
			t.Errorf("%v", got)
		}
	}
}

// asRoot makes a call of SNS as the root of a server, which must succeed, and returns its answer.
func asRoot(t *testing.T, s *Server, op string, params ...string) string {
	t.Helper()
	status, body := tryAsRoot(t, s, op, params...)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", op, status, body)
	}
	return body
}

func tryAsRoot(t *testing.T, s *Server, op string, params ...string) (status int, body string) {
	t.Helper()
	form := url.Values{"Action": {op}, "Version": {"2010-03-31"}}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	root := s.Root()
	return call(t, s, "sns", form.Encode(), &root)
}

// subscribeEndpoint subscribes a test server to a topic. It records messages while it is open, and refuses them
// otherwise.
func subscribeEndpoint(t *testing.T, s *Server, topic string, open *atomic.Bool) (texts <-chan string) {
	t.Helper()
	tokens, got := make(chan string, 1), make(chan string, 10)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var note struct{ Type, Token, Message string }
		err := json.NewDecoder(r.Body).Decode(&note)
		switch {
		case err != nil:
			t.Error(err)
		case note.Type == "SubscriptionConfirmation":
			tokens <- note.Token
		case open.Load():
			got <- note.Message
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(endpoint.Close)
	asRoot(t, s, "Subscribe", "TopicArn", topic, "Protocol", "http", "Endpoint", endpoint.URL)
	asRoot(t, s, "ConfirmSubscription", "TopicArn", topic, "Token", <-tokens)
	return got
}

// deliversLate is a delivery policy with which a message waits a second for its second attempt, and not for long.
const deliversLate = `{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":1,"numRetries":50}}}`

// Messages that wait for an HTTP endpoint are not readable on the disk, whether the topic names a key or not. The
// endpoint gets the text.
func TestMessagesForEndpointsAreEncrypted(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		for _, key := range []string{"", "alias/aws/sns"} {
			t.Run(fmt.Sprint(on, key), func(t *testing.T) {
				t.Parallel()
				config := encrypted(t.TempDir())
				config.EgressAllow = []string{"127.0.0.1"}
				if !on {
					config.EncryptionKeyFile = ""
				}
				s, _ := start(t, config)
				topic := apitest.Element(asRoot(t, s, "CreateTopic", "Name", "t",
					"Attributes.entry.1.key", "KmsMasterKeyId", "Attributes.entry.1.value", key,
					"Attributes.entry.2.key", "DeliveryPolicy", "Attributes.entry.2.value", deliversLate), "TopicArn")
				var open atomic.Bool
				texts := subscribeEndpoint(t, s, topic, &open)
				asRoot(t, s, "Publish", "TopicArn", topic, "Message", plaintext+" for the endpoint")
				stored := occurrences(t, config.Data, plaintext)
				if on && stored > 0 || !on && stored == 0 {
					t.Errorf("the text is readable %d times in the data directory", stored)
				}
				open.Store(true)
				if got := <-texts; got != plaintext+" for the endpoint" {
					t.Errorf("the endpoint got %q", got)
				}
			})
		}
	}
}

// Nothing can be published to a topic whose key the server lacks. Its endpoints can still be confirmed, and get the
// waiting messages.
func TestUnknownKeysOfTopics(t *testing.T) {
	t.Parallel()
	config := encrypted(t.TempDir())
	config.EgressAllow = []string{"127.0.0.1"}
	s, _ := start(t, config)
	topic := apitest.Element(asRoot(t, s, "CreateTopic", "Name", "t",
		"Attributes.entry.1.key", "DeliveryPolicy", "Attributes.entry.1.value", deliversLate), "TopicArn")
	var open atomic.Bool
	waiting := subscribeEndpoint(t, s, topic, &open)
	asRoot(t, s, "Publish", "TopicArn", topic, "Message", "before")
	setKey := func(key string) {
		asRoot(t, s, "SetTopicAttributes", "TopicArn", topic, "AttributeName", "KmsMasterKeyId", "AttributeValue", key)
	}
	setKey("alias/other")
	open.Store(true)
	other := subscribeEndpoint(t, s, topic, &open)
	if got := <-waiting; got != "before" {
		t.Errorf("the endpoint got %q", got)
	}
	for op, params := range map[string][]string{
		"Publish": {"TopicArn", topic, "Message", "x"},
		"PublishBatch": {
			"TopicArn", topic, "PublishBatchRequestEntries.member.1.Id", "a",
			"PublishBatchRequestEntries.member.1.Message", "x",
		},
	} {
		status, body := tryAsRoot(t, s, op, params...)
		if status != http.StatusBadRequest || apitest.Element(body, "Code") != "KMSNotFound" ||
			apitest.Element(body, "Message") != "The key alias/other does not exist." {
			t.Errorf("%s: %d %s", op, status, body)
		}
	}
	ring, err := keyring.Load(config.EncryptionKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	setKey(ring.First().ID())
	asRoot(t, s, "Publish", "TopicArn", topic, "Message", "after")
	for _, texts := range []<-chan string{waiting, other} {
		if got := <-texts; got != "after" {
			t.Errorf("an endpoint got %q", got)
		}
	}
}

// A server starts to encrypt data that was not encrypted, and stops queue by queue. Stored messages stay as they are,
// and FIFO queues keep their order.
func TestEncryptionComesAndGoes(t *testing.T) {
	t.Parallel()
	config := encrypted(t.TempDir())
	keys := config.EncryptionKeyFile
	config.EncryptionKeyFile = ""
	s, stop := start(t, config)
	c := clientOf(t, s, inJSON)
	for _, name := range []string{"q", "f.fifo"} {
		c.Make("CreateQueue", object{"QueueName": name, "Attributes": fifoIf(name)})
	}
	sent := 0
	send := func(queues ...string) {
		t.Helper()
		for _, name := range queues {
			in := object{"QueueUrl": c.URL(name), "MessageBody": fmt.Sprint(sent)}
			if name == "f.fifo" {
				in["MessageGroupId"], in["MessageDeduplicationId"] = "g", fmt.Sprint(sent)
			}
			c.Make("SendMessage", in)
		}
		sent++
	}
	restart := func(file string) {
		t.Helper()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		config.EncryptionKeyFile = file
		s, stop = start(t, config)
		region := c.Region
		c = clientOf(t, s, inJSON)
		c.Region = region
	}
	set := func(name, managed string) {
		t.Helper()
		c.Make("SetQueueAttributes", object{
			"QueueUrl": c.URL(name), "Attributes": object{"SqsManagedSseEnabled": managed},
		})
	}
	send("q", "f.fifo")
	restart(keys)
	send("q", "f.fifo")
	set("f.fifo", "false")
	send("q", "f.fifo")
	set("q", "false")
	set("f.fifo", "true")
	send("q", "f.fifo")
	restart(keys)
	for name, want := range map[string]string{"q": "- + + -", "f.fifo": "- + - +"} {
		if got := sealed(t, s, c.ARN(name)); got != want {
			t.Errorf("the messages of %s are %s, want %s", name, got, want)
		}
		for i := range sent {
			got := c.Make("ReceiveMessage", object{"QueueUrl": c.URL(name)})["Messages"].(list)[0].(object)
			if body := fmt.Sprint(i); name == "f.fifo" && got["Body"] != body ||
				got["MD5OfBody"] != md5Of(got["Body"].(string)) {
				t.Errorf("message %d of %s is %v", i, name, got)
			}
			c.Make("DeleteMessage", object{"QueueUrl": c.URL(name), "ReceiptHandle": got["ReceiptHandle"]})
		}
	}
}

func fifoIf(name string) object {
	if strings.HasSuffix(name, ".fifo") {
		return object{"FifoQueue": "true"}
	}
	return object{}
}

// sealed returns for each message of a queue, the first first, whether it is stored encrypted.
func sealed(t *testing.T, s *Server, arn string) string {
	t.Helper()
	n, _ := service.ParseQueueARN(arn)
	id := s.storage.catalog.Load().Find(n).ID
	var out []string
	as := queue.Receive{Max: 10, Timeout: new(time.Duration)}
	stored, err := s.storage.messages.(*secretMessages).Messages.Receive(t.Context(), id, as, 0)
	apitest.Must(t, stored, err)
	for i := range stored {
		form := "-"
		if stored[i].IsEncrypted() {
			form = "+"
		}
		out = append(out, form)
	}
	return strings.Join(out, " ")
}

// noted keeps the messages that it should store.
type noted struct {
	Messages
	bodies []string
}

func (n *noted) Send(_ context.Context, _ queue.ID, messages []queue.Outgoing) ([]queue.Sent, error) {
	for i := range messages {
		n.bodies = append(n.bodies, strings.Clone(messages[i].Body))
	}
	return nil, nil
}

func (n *noted) Publish(_ context.Context, publications []queue.Publication) ([]queue.Published, error) {
	for _, p := range publications {
		for i := range p.Copies {
			n.bodies = append(n.bodies, p.Copies[i].Message.Body+p.Copies[i].Tail)
		}
	}
	return nil, nil
}

// A queue may be deleted between the check of a call and its messages: they are encrypted as if it still existed.
func TestMessagesOfUnknownQueuesAreEncrypted(t *testing.T) {
	t.Parallel()
	s, _ := start(t, encrypted(t.TempDir()))
	m := *s.storage.messages.(*secretMessages)
	stored := &noted{Messages: m.Messages}
	m.Messages = stored
	const unknown = 1 << 40
	one := queue.Outgoing{ID: queue.MessageID(uuid.New()), Body: "in the clear"}
	if _, err := m.Send(t.Context(), unknown, []queue.Outgoing{one}); err != nil {
		t.Error(err)
	}
	copies := []queue.Copy{{Queue: unknown, Message: one, Tail: "in the clear"}}
	if _, err := m.Publish(t.Context(), []queue.Publication{{ID: one.ID, Copies: copies}}); err != nil {
		t.Error(err)
	}
	if all := strings.Join(stored.bodies, " "); len(stored.bodies) != 2 || strings.Contains(all, "clear") {
		t.Errorf("stored are %q", stored.bodies)
	}
}
