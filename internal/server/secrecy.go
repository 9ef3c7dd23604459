package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/keyring/keyservice"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
)

// secrecy is the wing of encryption: the keys, and whether messages are encrypted yet.
//
// The control store records which keys may encrypt. A node uses the first of them that is in its file. On a single
// machine, all keys may encrypt from the start. In a cluster, the node that owns the control store adds a key when all
// nodes have it and run a program that reads encrypted messages. So each node can read all messages.
type secrecy struct {
	config  *Config
	log     *slog.Logger
	storage *storage
	topics  *topic.Topics
	used    *encryption.Used
	ring    *keyring.Ring // nil: messages are not encrypted
	cipher  *encryption.Cipher
	watch   *keyWatch // nil: no key service has sealed the keys
}

// openSecrecy reads the keys. It creates a file with a key if there is none and nothing was encrypted.
func openSecrecy(c *Config, st *storage, topics *topic.Topics) (_ *secrecy, err error) {
	s := &secrecy{config: c, log: c.Logger, storage: st, topics: topics}
	if s.used, err = encryption.OpenUsed(st.control, st.formats()); err != nil {
		return nil, err
	}
	used := s.used.IDs()
	if c.KeyFile() == "" {
		if len(used) > 0 {
			return nil, fmt.Errorf(
				"messages are encrypted under the key %s: give its file by --encryption-key-file, or its service by --encryption-key-url", used[0])
		}
		return s, nil
	}
	if err := s.openRing(context.Background(), used); err != nil {
		return nil, err
	}
	st.cipher = s.cipher
	if c.Join == nil {
		if err := s.add(context.Background()); err != nil {
			return nil, err
		}
	}
	s.use()
	return s, nil
}

// openRing reads the file with the keys, or creates it, and makes the cipher.
func (s *secrecy) openRing(ctx context.Context, used []string) (err error) {
	path := s.config.KeyFile()
	var seals keyring.Service // nil: the keys are not sealed
	if s.config.EncryptionKeyURL != "" {
		if seals, err = keyservice.Open(ctx, s.config.EncryptionKeyURL); err != nil {
			return fmt.Errorf("--encryption-key-url: %w", err)
		}
	}
	if s.ring, err = s.load(ctx, path, seals, used); err != nil {
		return fmt.Errorf("the encryption keys: %w", err)
	}
	for _, id := range used {
		if s.ring.ByID(id) == nil {
			return fmt.Errorf(
				"the encryption keys: %s lacks the key %s, under which messages are encrypted: restore the file from a copy",
				path,
				id,
			)
		}
	}
	s.cipher = encryption.New(s.ring, s.config.Now)
	if seals != nil {
		s.watch = newKeyWatch(s.config, seals, s.ring, s.cipher)
	}
	return nil
}

// load reads the file with the keys, or creates it.
func (s *secrecy) load(ctx context.Context, path string, seals keyring.Service, used []string) (*keyring.Ring, error) {
	ring, err := s.config.loadKeys()
	switch {
	case errors.Is(err, keyring.ErrNoFile):
		return s.create(ctx, path, seals, used, err)
	case err != nil:
		return nil, err
	case ring.Sealed():
		return ring.Open(ctx, seals)
	}
	return ring, nil
}

// CheckKeys returns an error that describes why the server cannot start with the present file of the encryption keys.
// It does not call a key service. A single server creates a missing file.
func (c *Config) CheckKeys() error {
	if c.KeyFile() == "" {
		return nil
	}
	switch _, err := c.loadKeys(); {
	case errors.Is(err, keyring.ErrNoFile) && c.Join != nil:
		return fmt.Errorf("the encryption keys: %w", needsCopy(err))
	case err != nil && !errors.Is(err, keyring.ErrNoFile):
		return fmt.Errorf("the encryption keys: %w", err)
	}
	return nil
}

// loadKeys reads the file of the encryption keys, which must be sealed exactly if there is a key service. It opens no
// sealed keys.
func (c *Config) loadKeys() (*keyring.Ring, error) {
	ring, err := keyring.Load(c.KeyFile())
	if err == nil && ring.Sealed() != (c.EncryptionKeyURL != "") {
		return nil, notAsSealed(c.KeyFile(), ring.Sealed())
	}
	return ring, err
}

// needsCopy returns the error for a node of a cluster without a file of keys.
func needsCopy(missing error) error {
	return fmt.Errorf("%w; all nodes of a cluster need the same: create it with sluice key create, and copy it to each", missing)
}

// notAsSealed returns the error for a file that does not fit --encryption-key-url.
func notAsSealed(path string, sealed bool) error {
	if sealed {
		return fmt.Errorf("a key service has sealed the keys in %s: give its --encryption-key-url", path)
	}
	return fmt.Errorf("no key service has sealed the keys in %s: run sluice key reseal, or leave --encryption-key-url out", path)
}

// create makes the file with the keys, unless messages need the keys of a file that is missing.
func (s *secrecy) create(
	ctx context.Context, path string, seals keyring.Service, used []string, missing error,
) (ring *keyring.Ring, err error) {
	switch {
	case len(used) > 0:
		return nil, fmt.Errorf("%w, and messages are encrypted under the key %s: restore the file from a copy", missing, used[0])
	case s.config.Join != nil:
		return nil, needsCopy(missing)
	}
	ring = keyring.New(s.config.Now())
	if seals != nil {
		if ring, err = ring.Seal(ctx, seals); err != nil {
			return nil, err
		}
	}
	if err := ring.Create(path); err != nil {
		return nil, err
	}
	s.log.Info(
		"created a key to encrypt messages; if the file is lost without a copy, they are lost with it",
		"file", path, "key", ring.First().ID(),
	)
	return ring, nil
}

// missing returns the ids of this node's keys that the control store does not have, not even as retired.
func (s *secrecy) missing() []string {
	used := s.used.All()
	return slices.DeleteFunc(s.ids(), func(id string) bool { return slices.Contains(used, id) })
}

// ids returns the ids of the keys of this node's file.
func (s *secrecy) ids() (ids []string) {
	if s.ring != nil {
		for _, k := range s.ring.Keys() {
			ids = append(ids, k.ID())
		}
	}
	return ids
}

// sealed returns the keys as a key service has sealed them: without it they are of no use. It is nil if none has. The
// file may have keys in clear meanwhile, for the next start.
func (s *secrecy) sealed() *keyring.Ring {
	if s.ring == nil || !s.ring.Sealed() {
		return nil
	}
	return s.ring
}

// add adds this node's keys to those that may encrypt.
func (s *secrecy) add(ctx context.Context) error {
	missing := s.missing()
	if len(missing) == 0 {
		return nil
	}
	if err := s.used.Add(ctx, missing); err != nil {
		return fmt.Errorf("begin to encrypt messages: %w", err)
	}
	return nil
}

// use starts encrypting messages with the keys that may encrypt, if there are any, and stops encrypting with retired
// keys.
func (s *secrecy) use() {
	encrypting, all := s.used.Encrypting(), s.used.All()
	var keys, retired []*keyring.Key
	for _, k := range s.ring.Keys() {
		switch {
		case slices.Contains(encrypting, k.ID()):
			keys = append(keys, k)
		case slices.Contains(all, k.ID()):
			retired = append(retired, k)
		}
	}
	s.cipher.Use(keys, retired)
}

// agreePause is how long a node of a cluster waits before it asks again whether all nodes have its keys.
const agreePause = 2 * time.Second

// Run follows which keys encrypt, and whether the key service still opens them, until ctx ends.
func (s *secrecy) Run(ctx context.Context) error {
	if s.ring == nil {
		return nil
	}
	var all sync.WaitGroup
	all.Go(func() { s.follow(ctx) })
	if s.watch != nil {
		all.Go(func() { s.watch.run(ctx) })
	}
	all.Wait()
	return nil
}

// measure adds the metric of the key service, if there is one.
func (s *secrecy) measure(m *prom.Metrics) {
	if s.watch != nil {
		m.KeyService(s.watch.age)
	}
}

// follow starts encrypting with each key as soon as all nodes of the cluster have it, and follows which keys are
// retired.
func (s *secrecy) follow(ctx context.Context) {
	pause := time.NewTicker(agreePause)
	defer pause.Stop()
	for waited, said := false, false; ; {
		changed := s.used.Watch()
		s.use()
		missing := s.missing()
		if waited && len(missing) == 0 {
			waited = false
			s.log.Info("messages are encrypted", "key", s.ring.First().ID())
		}
		var again <-chan time.Time
		if len(missing) > 0 {
			waited, again = true, pause.C
			if err := s.agree(ctx); err != nil && !said {
				s.log.Info("a key does not encrypt messages yet", "key", missing[0], "why", err)
				said = true
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-again:
		}
	}
}

// agree adds this node's keys to those that may encrypt, if it owns the control store and all nodes have them. A node
// that is away may be back with the keys of before.
func (s *secrecy) agree(ctx context.Context) error {
	missing := s.missing()
	if !s.storage.isOwner() {
		return errors.New("the node that owns the control store has not found it on all nodes")
	}
	for _, n := range s.storage.node.Status().Nodes {
		if !n.Live {
			return fmt.Errorf("the node %s is away, and may not have it", n.Name)
		}
	}
	text, err := json.Marshal(question{Keys: true})
	if err != nil {
		return fmt.Errorf("ask for the keys of the other nodes: %w", err)
	}
	answers, silent := s.storage.node.Ask(ctx, text)
	if len(silent) > 0 {
		return fmt.Errorf("the node %s does not answer, or runs a program that cannot read encrypted messages", silent[0])
	}
	for _, answer := range answers {
		var ids []string
		if err := json.Unmarshal(answer, &ids); err != nil {
			return fmt.Errorf("another node's list of keys: %w", err)
		}
		for _, id := range missing {
			if !slices.Contains(ids, id) {
				return fmt.Errorf("a node does not have the key %s: all need the same --encryption-key-file", id)
			}
		}
	}
	return s.add(ctx)
}

// over returns m with encryption: messages are encrypted when they are stored, and decrypted when they are received.
func (s *secrecy) over(m Messages, queues *catalog.Catalog) Messages {
	if s.cipher == nil {
		return m
	}
	return &secretMessages{Messages: m, secrecy: s, queues: queues}
}

// check returns keyring.ErrNoKey or keyring.ErrDisabled if messages cannot be encrypted with the key of this name.
func (s *secrecy) check(key string) error {
	if s.cipher == nil || !s.cipher.Encrypts() {
		return nil
	}
	return s.cipher.Check(key)
}

// access returns the object that decides who may use the keys of queues and topics.
func (s *secrecy) access(a *accounts) *service.KeyAccess {
	return service.NewKeyAccess(a.permissions, s.config.Now, func() bool {
		return s.cipher != nil && s.cipher.Encrypts()
	})
}

// deliveryKey returns the name of the key for messages that wait for the endpoint of a subscription: that of its
// topic. The server's key replaces one that does not exist. Only confirmation requests come this far with such a key,
// because nothing can be published to the topic.
func (s *secrecy) deliveryKey(sub *topic.Subscription) string {
	t := s.topics.Find(sub.Topic)
	if t == nil || s.cipher.Check(t.Attributes.KMSKey) != nil {
		return ""
	}
	return t.Attributes.KMSKey
}

// source returns the decrypted messages of a shard for the deliverer.
func (s *secrecy) source(from delivery.Source) delivery.Source {
	if s.cipher == nil {
		return from
	}
	return &secretSource{Source: from, secrecy: s}
}

// secretSource decrypts the messages for endpoints.
type secretSource struct {
	delivery.Source
	secrecy *secrecy
}

// Receive implements delivery.Source; see secrecy.receive.
func (s *secretSource) Receive(
	ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration,
) ([]shard.Message, error) {
	return s.secrecy.receive(ctx, s.Source, id, r, wait)
}

// secretMessages encrypts messages before they are stored.
type secretMessages struct {
	Messages
	secrecy *secrecy
	queues  *catalog.Catalog
}

// doubtfulPeriod is how long a data key encrypts messages of a queue whose setting is not known.
const doubtfulPeriod = 5 * time.Minute

// setting returns how the messages of a queue are encrypted, if they are. Those of a queue or a subscription that this
// node does not know, because it was deleted a moment ago, are encrypted with the server's key.
func (m *secretMessages) setting(id queue.ID) (s encryption.Setting, on bool) {
	if !m.secrecy.cipher.Encrypts() {
		return s, false
	}
	q := m.queues.ByID(id)
	if q == nil || q.Name.Internal() {
		return encryption.Setting{Queue: id, Period: doubtfulPeriod}, true
	}
	key, period, on := q.Encryption()
	return encryption.Setting{Queue: id, Key: key, Period: period}, on
}

// copyKey returns the name of the key for the copies of a publication that a queue gets, if they are encrypted. Those
// for endpoints always are.
func (m *secretMessages) copyKey(id queue.ID) (name string, on bool) {
	if sub := m.secrecy.topics.Fed(id); sub != nil && m.secrecy.cipher.Encrypts() {
		return m.secrecy.deliveryKey(sub), true
	}
	s, on := m.setting(id)
	return s.Key, on
}

// Send implements sqs.Shard.
func (m *secretMessages) Send(ctx context.Context, id queue.ID, messages []queue.Outgoing) ([]queue.Sent, error) {
	s, on := m.setting(id)
	if !on {
		return m.Messages.Send(ctx, id, messages)
	}
	sealed, err := m.secrecy.cipher.Encrypt(s, messages)
	if err != nil {
		return nil, err
	}
	sent, err := m.Messages.Send(ctx, id, sealed.Messages)
	if err == nil {
		sealed.Release()
	}
	return sent, err
}

// Publish implements Messages. Copies for a queue whose key does not exist were refused before.
func (m *secretMessages) Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	all := slices.Clone(publications)
	for i := range all {
		var err error
		if all[i], err = m.secrecy.cipher.EncryptPublication(all[i], m.copyKey); err != nil {
			return nil, err
		}
	}
	return m.Messages.Publish(ctx, all)
}

// Receive implements sqs.Shard; see secrecy.receive.
func (m *secretMessages) Receive(
	ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration,
) ([]shard.Message, error) {
	return m.secrecy.receive(ctx, m.Messages, id, r, wait)
}

// receiver receives messages in their stored form.
type receiver interface {
	Receive(ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration) ([]shard.Message, error)
	Return(ctx context.Context, id queue.ID, deliveries []queue.Delivery, attempt string) error
}

// receive receives messages and decrypts them. A message that cannot be decrypted is left out, and stays in flight: it
// does not hold up the others, and the queue's redrive policy takes it to the dead-letter queue. The messages behind it
// in its message group are taken back, and so are those that cannot be decrypted while the keys are suspended: nothing
// is wrong with them. If there is no other message, the error is encryption.ErrUnreadable or ErrSuspended.
func (s *secrecy) receive(
	ctx context.Context, from receiver, id queue.ID, r queue.Receive, wait time.Duration,
) ([]shard.Message, error) {
	r.Decrypt = true
	messages, err := from.Receive(ctx, id, r, wait)
	if err != nil {
		return nil, err
	}
	fine, back, failed := s.readable(messages)
	if failed == nil {
		return messages, nil
	}
	if len(back) > 0 {
		failed = errors.Join(failed, from.Return(context.WithoutCancel(ctx), id, back, r.Attempt))
	}
	if len(fine) == 0 {
		return nil, failed
	}
	s.log.Error("a message cannot be decrypted, and is left out of a receive", "queue", id, "error", failed)
	return fine, nil
}

// readable decrypts messages, and returns those that it could, in their order, and the deliveries to take back. The
// error is about those that it could not decrypt.
func (s *secrecy) readable(messages []shard.Message) (fine []shard.Message, back []queue.Delivery, failed error) {
	var blocked map[string]bool // message groups
	fine = messages[:0]
	for i := range messages {
		one := &messages[i]
		if one.Sequence > 0 && blocked[one.Group] {
			back = append(back, one.Delivery)
			continue
		}
		if one.IsEncrypted() {
			if err := s.cipher.Decrypt(&one.Message); err != nil {
				failed = errors.Join(failed, err)
				if blocked == nil {
					blocked = make(map[string]bool)
				}
				blocked[one.Group] = true
				if errors.Is(err, encryption.ErrSuspended) {
					back = append(back, one.Delivery)
				}
				continue
			}
		}
		fine = append(fine, *one)
	}
	return fine, back, failed
}

// StartMove implements sqs.Shard. The edit of a task is encrypted if its queue, or one that it may fill, is.
func (m *secretMessages) StartMove(ctx context.Context, id queue.ID, t queue.MoveTask) error {
	if t.Selection == nil || t.Selection.Edit == nil {
		return m.Messages.StartMove(ctx, id, t)
	}
	queues := append([]queue.ID{id}, t.Sources...)
	if n, ok := service.ParseQueueARN(t.Destination); ok {
		if q := m.queues.Find(n); q != nil {
			queues = append(queues, q.ID)
		}
	}
	for _, id := range queues {
		s, on := m.setting(id)
		if !on {
			continue
		}
		edit, err := m.secrecy.cipher.EncryptEdit(s, t.Selection.Edit)
		if err != nil {
			return err
		}
		selection := *t.Selection
		selection.Edit, t.Selection = edit, &selection
		break
	}
	return m.Messages.StartMove(ctx, id, t)
}
