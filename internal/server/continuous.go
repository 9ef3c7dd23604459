package server

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/backup/repository"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// continuous makes one backup after the other in an object store. Clients never wait for it: it takes a snapshot, as a
// backup on request does, and reads that at its own pace. Of the nodes of a cluster, the owner of the control store
// makes the backups of all shards. Two nodes may take themselves for the owner: see package repository.
type continuous struct {
	config  *Config
	log     *slog.Logger
	storage *storage
	backups *backups // makes snapshots

	place  bucket.Place // nil until it is open, as is writer
	writer *repository.Writer

	mu       sync.Mutex
	since    time.Time // when this server started, or became the owner of the control store
	last     time.Time // time of the last backup that is known to this server; zero: none
	failures uint64
	problem  string // error of the last attempt; empty: none
	made     bool   // this server has made a backup since then
}

func newContinuous(c *Config, st *storage, b *backups) *continuous {
	return &continuous{config: c, log: c.Logger, storage: st, backups: b, since: st.now(c)}
}

// on reports whether continuous backups are configured.
func (c *continuous) on() bool { return c.config.BackupTo != "" }

const (
	// backupTurn is how often a node of a cluster finds out whether it has to make the backups.
	backupTurn = time.Second
	// backupRetry is the maximum time from a failed backup to the next one.
	backupRetry = 10 * time.Second
)

// Run makes backups until ctx ends. If one takes longer than the interval, the next begins when it has ended.
func (c *continuous) Run(ctx context.Context) {
	if !c.on() {
		return
	}
	defer c.leave()
	for due := time.Now(); ; {
		switch {
		case !c.storage.isOwner():
			c.leave()
			due = time.Now().Add(backupTurn)
		case !time.Now().Before(due):
			due = c.turn(ctx)
		}
		if wait.For(ctx, min(backupTurn, max(time.Until(due), time.Millisecond))) != nil {
			return
		}
	}
}

// turn makes a backup, and returns when the next one is due.
func (c *continuous) turn(ctx context.Context) time.Time {
	began := time.Now()
	if c.step(ctx) {
		return began.Add(c.config.BackupEvery)
	}
	return time.Now().Add(min(c.config.BackupEvery, backupRetry))
}

// leave drops this server's state of the object store, to which another node may write from now on.
func (c *continuous) leave() {
	if c.place != nil {
		_ = c.place.Close()
	}
	c.place, c.writer = nil, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.last, c.problem, c.made = c.storage.now(c.config), time.Time{}, "", false
}

// step makes one backup, records its outcome, and removes old backups until the next one is due, or for at least a
// tenth of the time between two. It reports whether there is a new backup.
func (c *continuous) step(ctx context.Context) bool {
	began := time.Now()
	m, err := c.make(ctx)
	if ctx.Err() != nil || !c.storage.isOwner() {
		return false
	}
	c.note(m, err, time.Since(began))
	if err != nil {
		return false
	}
	every := c.config.BackupEvery
	until := time.Now().Add(max(every-time.Since(began), every/10))
	if err := c.writer.Tidy(ctx, c.storage.now(c.config), until); err != nil && ctx.Err() == nil {
		c.log.Warn("old backups cannot be removed", "to", c.config.BackupTo, "error", err)
	}
	return true
}

func (c *continuous) make(ctx context.Context) (_ *repository.Moment, err error) {
	if err := c.proceed(); err != nil {
		return nil, err
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	if err := c.writer.Prepare(ctx, c.storage.now(c.config)); err != nil {
		return nil, err
	}
	c.learn(c.writer.Latest())
	about := backup.About{
		Version: c.config.Version, Created: c.storage.now(c.config).UTC().Truncate(time.Millisecond),
		Queues: c.storage.queues(),
	}
	dir, err := c.backups.snapshot(ctx, &about)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return c.writer.Write(ctx, dir, about)
}

// proceed returns an error if a backup must not begin, or be given up.
func (c *continuous) proceed() error {
	if !c.storage.isOwner() {
		return errNotOwner
	}
	return c.room()
}

var errNotOwner = errors.New("another node of the cluster makes the backups")

// room returns an error if the disk needs the space of deleted data, which a snapshot would hold.
func (c *continuous) room() error {
	if err := c.storage.disk.Writable().Err(); err != nil {
		return err
	}
	return c.storage.space.room()
}

// open opens the object store, unless it is open. A failure does not prevent the start of the server: each backup tries
// again.
func (c *continuous) open(ctx context.Context) error {
	if c.writer != nil {
		return nil
	}
	id, err := c.storage.node.BackupID(ctx)
	if err != nil {
		return err
	}
	place, err := bucket.OpenPlace(ctx, c.config.BackupTo, true)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	c.place = place
	c.writer = repository.NewWriter(repository.Options{
		Place: place, ID: id, Host: host, Keep: c.config.BackupKeep, Pace: pace(c.config.BackupBandwidth),
		Room:   c.proceed,
		Shared: c.config.Join != nil, Missing: c.missing,
	})
	return nil
}

// missing logs that objects of backups have vanished.
func (c *continuous) missing(again, lost int) {
	log := c.log.With("to", c.config.BackupTo)
	if again > 0 {
		log.Warn("something has removed or cut short objects of backups; they are stored again", "objects", again)
	}
	if lost > 0 {
		log.Error("something has removed or cut short objects of older backups, which cannot be restored", "objects", lost)
	}
}

// learn records the time of a backup that was made before, perhaps by another node.
func (c *continuous) learn(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !at.IsZero() {
		c.last = at
	}
}

// note records the outcome of an attempt. It logs failures and the first success after a failure.
func (c *continuous) note(m *repository.Moment, err error, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failures++
		c.problem = err.Error()
		c.log.Warn("the continuous backup has failed", "to", c.config.BackupTo, "error", err)
		return
	}
	level := slog.LevelDebug
	if !c.made || c.problem != "" {
		level = slog.LevelInfo
	}
	c.last, c.problem, c.made = m.Created, "", true
	c.log.Log(context.Background(), level, "a continuous backup was made", "to", c.config.BackupTo,
		"moment", m.Created, "number", m.Number, "duration", took)
}

// age returns the age of the last backup or, while none is known, the time since the server started or became the
// owner of the control store. Another node makes the backups if ok is false.
func (c *continuous) age() (age time.Duration, ok bool) {
	if !c.storage.isOwner() {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	since := c.last
	if since.IsZero() {
		since = c.since
	}
	return max(0, c.storage.now(c.config).Sub(since)), true
}

func (c *continuous) failed() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failures
}

// lateAfter is the minimum age at which the last backup counts as a problem.
const lateAfter = 5 * time.Minute

// describe returns the state of the continuous backups, or nil if there are none.
func (c *continuous) describe() *admin.ContinuousBackup {
	if !c.on() {
		return nil
	}
	out := &admin.ContinuousBackup{To: c.config.BackupTo}
	age, ok := c.age()
	if !ok {
		out.Standby = true
		return out
	}
	out.Late = age > max(lateAfter, 3*c.config.BackupEvery)
	c.mu.Lock()
	defer c.mu.Unlock()
	out.Failure = c.problem
	if !c.last.IsZero() {
		out.LastMoment = new(c.last.UnixMilli())
	}
	return out
}
