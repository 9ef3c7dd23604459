package crash

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// TestKillEncrypted kills a server that encrypts, at any time. Before each start it starts the server with a missing,
// truncated or foreign key file, which the server refuses without changing anything.
func TestKillEncrypted(t *testing.T) {
	program.Long(t)
	t.Parallel()
	binary, data := program.Build(t), t.TempDir()
	keys := filepath.Join(t.TempDir(), "keys")
	if err := keyring.New(time.Now()).Create(keys); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--encryption-key-file", keys}
	kills(t, binary, data, func() { refusesOtherKeys(t, binary, data, keys, flags) }, flags...)
}

// refusesOtherKeys starts a server with wrong key files, and then restores the right one.
func refusesOtherKeys(t *testing.T, binary, data, keys string, flags []string) {
	t.Helper()
	file, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spoil func() error
		says  string
	}{
		{func() error { return os.Remove(keys) }, "restore the file from a copy"},
		{func() error { return os.WriteFile(keys, file[:len(file)/2], 0o600) }, "is damaged"},
		{func() error { return keyring.New(time.Now()).Replace(keys) }, "lacks the key"},
	} {
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		if said := refusedBy(t, binary, data, flags...); !strings.Contains(said, c.says) {
			t.Errorf("want the error %q, got: %s", c.says, said)
		}
	}
	if err := os.WriteFile(keys, file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// secretText is in all messages of encryptedNodes. It does not compress.
const secretText = "q7Zx0Vk3"

// encryptedNodes is a cluster with a key file, and the messages sent to it.
type encryptedNodes struct {
	*nodes
	keys string
	mu   sync.Mutex
	sent map[string]bool // bodies of acknowledged sends
}

// TestEncryptedCluster kills each node of a cluster that encrypts while messages are sent, and changes its key. Every
// message is received, through any node, and no file of a node contains its text.
func TestEncryptedCluster(t *testing.T) {
	program.Long(t)
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys")
	ring := keyring.New(time.Now())
	if err := ring.Create(keys); err != nil {
		t.Fatal(err)
	}
	c := &encryptedNodes{
		nodes: newNodes(t, program.Build(t), "--encryption-key-file", keys), keys: keys, sent: make(map[string]bool),
	}
	t.Cleanup(c.stop)
	eventually.Succeeds(t, func() error { return c.any(0).Create(history.Queue{Name: "q"}) })
	eventually.Succeeds(t, func() error { return c.any(0).Create(history.Queue{Name: "probe"}) })
	c.encryptsWith(ring.First())

	var over atomic.Bool
	var senders sync.WaitGroup
	for n := range len(c.client) {
		senders.Go(func() { c.send(n, &over) })
	}
	ring, err := ring.Prepare(time.Now())
	c.restartWith(ring, err)
	c.encryptsWith(ring.Keys()[1])
	ring, err = ring.Rotate(time.Now())
	c.restartWith(ring, err)
	over.Store(true)
	senders.Wait()
	c.receiveAll()
	c.stop()
	if n := c.occurrences(secretText); n > 0 {
		t.Errorf("%d texts are readable in the directories of the nodes", n)
	}
	t.Logf("%d messages", len(c.sent))
}

// encryptsWith waits until each node encrypts with a key: until then a queue with that key refuses sends, or stores
// them unencrypted if nothing is encrypted yet.
func (c *encryptedNodes) encryptsWith(k *keyring.Key) {
	c.Helper()
	for _, key := range []string{"alias/other", k.ID()} {
		eventually.Succeeds(c.T, func() error {
			return c.any(0).Call("SetQueueAttributes", workload.Object{
				"QueueUrl": c.any(0).URL("probe"), "Attributes": workload.Object{"KmsMasterKeyId": key},
			}, nil)
		})
		for i := range c.client {
			eventually.Succeeds(c.T, func() error { return c.probe(i, key == k.ID()) })
		}
	}
}

// probe sends to a node, and returns an error unless the node knows the queue's key, or does not, as expected.
func (c *encryptedNodes) probe(i int, known bool) error {
	node := c.client[i].Load()
	err := node.Call("SendMessage", workload.Object{"QueueUrl": node.URL("probe"), "MessageBody": "probe"}, nil)
	switch {
	case known:
		return err
	case err == nil:
		return fmt.Errorf("node %s does not encrypt", c.name(i))
	case !strings.Contains(err.Error(), "KmsNotFound"):
		return err
	}
	return nil
}

// send sends messages, through one node after the other.
func (c *encryptedNodes) send(worker int, over *atomic.Bool) {
	for n := worker; !over.Load(); n++ {
		body := fmt.Sprintf("%s %d %d", secretText, worker, n)
		node := c.any(n)
		if node.Call("SendMessage", workload.Object{"QueueUrl": node.URL("q"), "MessageBody": body}, nil) == nil {
			c.mu.Lock()
			c.sent[body] = true
			c.mu.Unlock()
		}
	}
}

// sends returns the number of acknowledged sends.
func (c *encryptedNodes) sends() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sent)
}

// restartWith gives the nodes a new key file, and kills and restarts one after the other. Messages are sent all the
// time.
func (c *encryptedNodes) restartWith(ring *keyring.Ring, err error) {
	c.Helper()
	if err == nil {
		err = ring.Replace(c.keys)
	}
	if err != nil {
		c.Fatal(err)
	}
	for i := range c.running {
		c.kill(i)
		before := c.sends()
		eventually.True(c.T, "messages are sent through the others", func() bool { return c.sends() > before+20 })
		c.running[i] = c.start(i)
		c.wait(i)
	}
}

// receiveAll receives the sent messages, through one node after the other.
func (c *encryptedNodes) receiveAll() {
	c.Helper()
	missing := make(map[string]bool, len(c.sent))
	for body := range c.sent {
		missing[body] = true
	}
	for n := 0; len(missing) > 0; n++ {
		eventually.Succeeds(c.T, func() error {
			got, err := c.any(n).Receive("q", workload.Receive{Most: 10, Timeout: time.Hour})
			if err != nil {
				return err
			}
			if len(got) == 0 {
				return fmt.Errorf("%d of %d messages are missing", len(missing), len(c.sent))
			}
			for _, m := range got {
				if !strings.HasPrefix(m.Body, secretText) {
					c.Fatalf("a message is %q", m.Body)
				}
				delete(missing, m.Body)
			}
			return nil
		})
	}
}

// occurrences counts how often a text occurs in the files of the nodes, including the shared logs.
func (c *encryptedNodes) occurrences(text string) (n int) {
	c.Helper()
	err := filepath.WalkDir(c.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		n += bytes.Count(b, []byte(text))
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return n
}
