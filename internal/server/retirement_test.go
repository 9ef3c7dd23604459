package server

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/keyring"
)

// retiring is a server whose file of keys changes.
type retiring struct {
	t      *testing.T
	config Config
	server *Server
	stop   func() error
	*client
}

func newRetiring(t *testing.T) *retiring {
	r := &retiring{t: t, config: encrypted(t.TempDir()), stop: func() error { return nil }}
	r.restart(func(k *keyring.Ring) (*keyring.Ring, error) { return k, nil })
	return r
}

// restart stops the server, changes its file of keys, and starts it.
func (r *retiring) restart(change func(*keyring.Ring) (*keyring.Ring, error)) {
	r.t.Helper()
	if err := r.stop(); err != nil {
		r.t.Fatal(err)
	}
	if r.server != nil {
		ring, err := keyring.Load(r.config.EncryptionKeyFile)
		apitest.Must(r.t, ring, err)
		ring, err = change(ring)
		apitest.Must(r.t, ring, err)
		apitest.Must(r.t, 0, ring.Replace(r.config.EncryptionKeyFile))
	}
	r.server, r.stop = start(r.t, r.config)
	r.client = clientOf(r.t, r.server, inJSON)
	r.client.Region = "us-east-1"
}

// retire calls RetireKey, and expects a status.
func (r *retiring) retire(id string, want int) (k admin.RetiredKey, body string) {
	r.t.Helper()
	status, body := callAdmin(r.t, r.server, "RetireKey", `{"KeyId":"`+id+`"}`)
	if status != want {
		r.t.Errorf("RetireKey: %d %s, want %d", status, body, want)
	}
	if err := json.Unmarshal([]byte(body), &k); err != nil {
		r.t.Error(err)
	}
	return k, body
}

// examine searches for data that needs a key.
func (r *retiring) examine(id string) {
	r.t.Helper()
	if err := r.server.administration.retirement.examine(r.t.Context(), encryption.Retirement{ID: id}); err != nil {
		r.t.Error(err)
	}
}

// setKey sets the key of a queue.
func (r *retiring) setKey(queue, key string) {
	r.t.Helper()
	r.Make("SetQueueAttributes", object{"QueueUrl": r.URL(queue), "Attributes": object{"KmsMasterKeyId": key}})
}

// A retired key encrypts nothing more. When the last message that needs it is gone, the server starts without it.
func TestRetiredKey(t *testing.T) {
	t.Parallel()
	r := newRetiring(t)
	old := r.server.secrecy.ring.First().ID()
	r.Make("CreateQueue", object{"QueueName": "q"})
	r.Make("CreateQueue", object{"QueueName": "named"})
	r.Make("SendMessage", object{"QueueUrl": r.URL("q"), "MessageBody": "m", "DelaySeconds": 0})
	r.retire(old, http.StatusConflict) // it encrypts
	r.restart(func(k *keyring.Ring) (*keyring.Ring, error) { return k.Rotate(time.Now()) })
	r.retire("no-such-key", http.StatusNotFound)
	r.setKey("named", old)
	if _, body := r.retire(old, http.StatusConflict); !strings.Contains(body, ":named names it") {
		t.Errorf("the answer is %s", body)
	}
	r.Make("DeleteQueue", object{"QueueUrl": r.URL("named")})
	if _, body := r.retire(old, http.StatusConflict); !strings.Contains(body, ":named names it") {
		t.Errorf("for a key of a deleted queue that can be restored, the answer is %s", body)
	}
	if status, body := callAdmin(t, r.server, "UndoDelete", `{"QueueName":"named"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	r.setKey("named", "")

	if k, _ := r.retire(old, http.StatusOK); k.KeyId != old || k.CheckedTimestamp != nil || k.Removable {
		t.Errorf("the key is %+v", k)
	}
	if due := r.server.administration.retirement.due(); len(due) > 0 {
		t.Errorf("messages that are being sent may need %v", due)
	}
	r.setKey("named", old)
	if a := r.Call("SendMessage", object{
		"QueueUrl": r.URL("named"), "MessageBody": "m",
	}); a.Status != http.StatusBadRequest ||
		!strings.Contains(string(a.Body), "KmsDisabled") {
		t.Errorf("a send under it: %d %s", a.Status, a.Body)
	}
	topic := apitest.Element(asRoot(t, r.server, "CreateTopic", "Name", "t"), "TopicArn")
	asRoot(t, r.server, "SetTopicAttributes", "TopicArn", topic, "AttributeName", "KmsMasterKeyId", "AttributeValue",
		old)
	if status, body := tryAsRoot(t, r.server, "Publish", "TopicArn", topic, "Message",
		"x"); status != http.StatusBadRequest ||
		apitest.Element(body, "Code") != "KMSDisabled" {
		t.Errorf("a publish under it: %d %s", status, body)
	}

	r.examine(old)
	if k, _ := r.retire(old, http.StatusOK); k.CheckedTimestamp == nil || k.NeededBy == 0 || k.Removable {
		t.Errorf("although a message needs it: %+v", k)
	}
	for body := range bodies(r.client, "q", 1) { // they are deleted
		if body != "m" {
			t.Errorf("received %q", body)
		}
	}
	r.examine(old)
	if k, _ := r.retire(old, http.StatusOK); k.NeededBy != 0 || !k.Removable {
		t.Errorf("although nothing needs it: %+v", k)
	}
	r.restart(func(k *keyring.Ring) (*keyring.Ring, error) { return k, nil }) // as a node with the old file
	if err := r.server.secrecy.check(old); !errors.Is(err, keyring.ErrDisabled) {
		t.Errorf("the key is back: %v", err)
	}
	r.restart(func(k *keyring.Ring) (*keyring.Ring, error) { return k.Remove(old) })
	r.Make("SendMessage", object{"QueueUrl": r.URL("q"), "MessageBody": "later"})
	if got := bodies(r.client, "q", 1); got["later"] == nil {
		t.Errorf("received %v", got)
	}
}

// A node of a cluster may have a new key before the others do. The old key encrypts until all have the new one.
func TestRetirementOfTheOnlyKey(t *testing.T) {
	t.Parallel()
	r := newRetiring(t)
	s := *r.server.secrecy
	old := s.ring.First().ID()
	rotated, err := s.ring.Rotate(time.Now())
	apitest.Must(t, rotated, err)
	s.ring = rotated
	of := &retirement{config: &r.config, storage: r.server.storage, secrecy: &s}
	if _, err := of.retire(t.Context(), old); err == nil || !strings.Contains(err.Error(), "no other key encrypts") {
		t.Errorf("it is retired: %v", err)
	}
}

// A node with a wrong clock waits as long as the others: meanwhile, requests may still encrypt with the retired key.
func TestRetirementWithAWrongClock(t *testing.T) {
	t.Parallel()
	r := newRetiring(t)
	old := r.server.secrecy.ring.First().ID()
	r.restart(func(k *keyring.Ring) (*keyring.Ring, error) { return k.Rotate(time.Now()) })
	r.retire(old, http.StatusOK)
	ahead := r.config
	wrong := retirementPause
	ahead.Now = func() time.Time { return time.Now().Add(wrong) }
	node := &fakeNode{control: r.server.storage.control, shift: -wrong}
	of := &retirement{
		config: &ahead, storage: &storage{control: node.control, node: node}, secrecy: r.server.secrecy,
	}
	if got := of.due(); len(got) != 0 {
		t.Errorf("%v are due", got)
	}
	wrong += retirementPause
	if got := of.due(); len(got) != 1 {
		t.Errorf("later, %v are due", got)
	}
}

// A search is due some minutes after the retirement or after a failed search, and then every hour.
func TestRetirementIsDue(t *testing.T) {
	t.Parallel()
	r := newRetiring(t)
	old := r.server.secrecy.ring.First().ID()
	r.restart(func(k *keyring.Ring) (*keyring.Ring, error) { return k.Rotate(time.Now()) })
	r.retire(old, http.StatusOK)
	later := r.config // the server has another clock, by which no search is due
	now := time.Now()
	later.Now = func() time.Time { return now }
	of := &retirement{config: &later, storage: r.server.storage, secrecy: r.server.secrecy}
	for _, c := range []struct {
		forward time.Duration
		noted   bool
		want    int
	}{{retirementPause - time.Minute, false, 0}, {retirementPause, false, 1}, {0, true, 0},
		{retirementEvery - time.Minute, false, 0}, {time.Minute, false, 1}} {
		now = now.Add(c.forward)
		if c.noted {
			_, err := r.server.secrecy.used.Note(t.Context(), old, 1, now)
			apitest.Must(t, 0, err)
		}
		if got := of.due(); len(got) != c.want {
			t.Errorf("%+v: due are %v", c, got)
		}
	}

	lacking := *r.server.secrecy
	lacking.ring = keyring.New(now)
	of.secrecy, of.log = &lacking, slog.New(slog.DiscardHandler)
	of.turn(t.Context())
	if got := of.due(); len(got) > 0 {
		t.Errorf("%v are due at once", got)
	}
	if now = now.Add(retirementPause); len(of.due()) != 1 {
		t.Error("it is not due again")
	}
}
