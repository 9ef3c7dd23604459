package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/topic"
)

// retirement finds out when a retired key may leave the file of keys: when no record of any shard needs it.
//
// First, no node encrypts with the key any more, and requests that did so have ended. Then the node that owns the
// control store makes a snapshot of all shards, in which each message is in one place, even one that moves between
// shards. It reads every record in the snapshot, at the pace of backups. It repeats this once an hour while a record
// needs the key.
type retirement struct {
	config  *Config
	log     *slog.Logger
	storage *storage
	secrecy *secrecy
	backups *backups  // makes snapshots
	failed  time.Time // when a search last failed; zero: never
}

const (
	// retirementPause is the time from a key's retirement to the first search. It is many times longer than a request
	// takes, and than a node that answers clients may lag behind the control store. It is also the pause after a failed
	// search.
	retirementPause = 5 * time.Minute
	// retirementEvery is the time from one search to the next.
	retirementEvery = time.Hour
	// retirementTurn is how often the node finds out whether a search is due.
	retirementTurn = 10 * time.Second
)

// Run searches for messages and edits that need retired keys, until ctx ends.
func (r *retirement) Run(ctx context.Context) {
	if r.secrecy.ring == nil {
		return
	}
	turn := time.NewTicker(retirementTurn)
	defer turn.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-turn.C:
			r.turn(ctx)
		}
	}
}

// turn makes the searches that are due.
func (r *retirement) turn(ctx context.Context) {
	for _, k := range r.due() {
		if err := r.examine(ctx, k); err != nil && ctx.Err() == nil {
			r.failed = r.storage.now(r.config)
			r.log.Warn("it is not known whether a retired key is needed", "key", k.ID, "error", err)
		}
	}
}

// due returns the keys to search for now, on the node that owns the control store.
func (r *retirement) due() (keys []encryption.Retirement) {
	now := r.storage.now(r.config)
	if !r.storage.isOwner() || now.Sub(r.failed) < retirementPause {
		return nil
	}
	for _, k := range r.secrecy.used.Retired() {
		if !k.Gone && now.Sub(k.Since) >= retirementPause && now.Sub(k.Checked) >= retirementEvery {
			keys = append(keys, k)
		}
	}
	return keys
}

// examine counts the records that need a key, and records the number.
func (r *retirement) examine(ctx context.Context, k encryption.Retirement) error {
	key := r.secrecy.ring.ByID(k.ID)
	if key == nil {
		return errors.New("this node does not have it")
	}
	needed, err := r.count(ctx, key.Short())
	if err != nil {
		return err
	}
	if k, err = r.secrecy.used.Note(ctx, k.ID, needed, r.storage.now(r.config)); err == nil {
		r.log.Info("searched for what a retired key is needed for", "key", k.ID, "records", k.Needed)
	}
	return err
}

// count returns the number of records in all shards that need a key.
func (r *retirement) count(ctx context.Context, k keyring.ShortID) (needed int64, err error) {
	if err := r.storage.space.room(); err != nil {
		return 0, err
	}
	dir, err := r.backups.snapshot(ctx, new(backup.About))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	shards := filepath.Join(dir, datadir.ShardsDir)
	all, err := os.ReadDir(shards)
	if err != nil {
		return 0, err
	}
	for _, shard := range all {
		n, err := r.countIn(ctx, filepath.Join(shards, shard.Name()), k)
		if err != nil {
			return 0, fmt.Errorf("shard %s: %w", shard.Name(), err)
		}
		needed += n
	}
	return needed, nil
}

// countIn is count for the store in a directory. It has its own small cache, because it reads each record once.
func (r *retirement) countIn(ctx context.Context, dir string, k keyring.ShortID) (needed int64, err error) {
	cache := store.NewCache(retirementCache)
	defer cache.Close()
	s, err := store.OpenReadOnly(dir, store.Options{Disk: r.storage.disk, Cache: cache, Logger: r.log})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	wait := pace(r.config.BackupBandwidth)
	read := 0
	var stopped error
	err = s.Scan(nil, nil, func(_, value []byte) bool {
		if encryption.Needs(value, k) {
			needed++
		}
		if read += len(value); read >= retirementRead {
			if stopped = r.storage.space.room(); stopped == nil { // the snapshot takes space
				stopped = slowly(ctx, wait, read)
			}
			read = 0
		}
		return stopped == nil
	})
	return needed, errors.Join(err, stopped)
}

const (
	retirementCache = 1 << 20
	retirementRead  = 32 << 10 // bytes that are read without a pause
)

// slowly waits until this many more bytes may be read.
func slowly(ctx context.Context, wait func(context.Context, int) error, bytes int) error {
	if wait == nil {
		return ctx.Err()
	}
	return wait(ctx, bytes)
}

// retire implements admin.Options.RetireKey: it records that a key encrypts no messages any more.
func (r *retirement) retire(ctx context.Context, id string) (k encryption.Retirement, err error) {
	if err := r.refuse(id); err != nil {
		return k, err
	}
	if err := r.storage.node.Reads(formats.RetiredKeys); err != nil {
		return k, err
	}
	return r.secrecy.used.Retire(ctx, id, r.storage.now(r.config))
}

// refuse returns an error if a key that is not retired encrypts messages or will.
func (r *retirement) refuse(id string) error {
	ring := r.secrecy.ring
	if ring == nil || ring.ByID(id) == nil || !slices.Contains(r.secrecy.used.Encrypting(), id) {
		return nil
	}
	if _, err := ring.Remove(id); err != nil {
		return &admin.KeyInUse{Reason: err.Error()}
	}
	if !r.replaced(id) {
		return &admin.KeyInUse{Reason: "no other key encrypts until all nodes of the cluster have it"}
	}
	if named := r.namedBy(id); named != "" {
		return &admin.KeyInUse{Reason: named + " names it as KmsMasterKeyId"}
	}
	return nil
}

// replaced reports whether another key encrypts messages. Without one, they would be stored as they are.
func (r *retirement) replaced(id string) bool {
	return slices.ContainsFunc(r.secrecy.used.Encrypting(), func(other string) bool {
		return other != id && r.secrecy.ring.ByID(other) != nil
	})
}

// namedBy returns the ARN of a queue or topic that names a key, or nothing. A deleted queue that can be brought back
// counts: it could not encrypt messages any more.
func (r *retirement) namedBy(id string) string {
	for _, q := range r.storage.catalog.Load().Kept() {
		if key, _, on := q.Encryption(); on && encryption.IsNamed(key, id) {
			return q.Name.ARN()
		}
	}
	t := r.secrecy.topics.Where(func(t *topic.Topic) bool { return encryption.IsNamed(t.Attributes.KMSKey, id) })
	if len(t) > 0 {
		return t[0].Name.ARN()
	}
	return ""
}
