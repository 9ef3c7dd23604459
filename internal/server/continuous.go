package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/backup/repository"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/durable"
)

// continuous makes a backup of each moment in a place for objects, one after the other. Clients never wait for it: it
// takes a snapshot as a backup on request does, and reads that at its own pace.
type continuous struct {
	config  *Config
	log     *slog.Logger
	storage *storage
	backups *backups // makes snapshots
	began   time.Time

	place  bucket.Place // nil until it is open, as writer
	writer *repository.Writer

	mu       sync.Mutex
	last     time.Time // the moment of the last backup; zero: there was none since the server was started
	failures uint64
	problem  string // why the last attempt has failed; empty: it has not
}

func newContinuous(c *Config, st *storage, b *backups) *continuous {
	return &continuous{config: c, log: c.Logger, storage: st, backups: b, began: c.Now()}
}

// on reports whether there are continuous backups.
func (c *continuous) on() bool { return c.config.BackupTo != "" }

// Run makes backups until ctx ends. Where one takes longer than the time to the next, that begins when it has ended.
func (c *continuous) Run(ctx context.Context) {
	if !c.on() {
		return
	}
	ticker := time.NewTicker(c.config.BackupEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		c.step(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	if c.place != nil {
		_ = c.place.Close()
	}
}

// step makes one backup, notes what has become of it, and removes old ones.
func (c *continuous) step(ctx context.Context) {
	began := time.Now()
	m, err := c.make(ctx)
	if ctx.Err() != nil {
		return
	}
	c.note(m, err, time.Since(began))
	if err != nil {
		return
	}
	if err := c.writer.Tidy(ctx, c.config.Now()); err != nil && ctx.Err() == nil {
		c.log.Warn("old backups cannot be removed", "to", c.config.BackupTo, "error", err)
	}
}

func (c *continuous) make(ctx context.Context) (_ *repository.Moment, err error) {
	if err := c.room(); err != nil {
		return nil, err
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	about := backup.About{Version: c.config.Version, Created: c.config.Now().UTC().Truncate(time.Millisecond), Queues: c.storage.queues()}
	dir, err := c.backups.snapshot(ctx, &about)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return c.writer.Write(ctx, dir, about)
}

// room returns an error if the disk needs the space of what was deleted, which a snapshot holds.
func (c *continuous) room() error {
	if err := c.storage.disk.Writable().Err(); err != nil {
		return err
	}
	return c.storage.space.room()
}

// open opens the place, unless it is. A place that cannot be opened is no reason not to start: it is tried each time.
func (c *continuous) open(ctx context.Context) error {
	if c.writer != nil {
		return nil
	}
	id, err := backupID(c.config.Data)
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
		Place: place, ID: id, Host: host, Keep: c.config.BackupKeep, Pace: pace(c.config.BackupBandwidth), Room: c.room,
	})
	return nil
}

// paceBurst is how much may be read at once. A repository never asks for more.
const paceBurst = 64 << 10

// pace returns what keeps backups from reading more than so many bytes a second, or nil for 0.
func pace(bandwidth int64) func(ctx context.Context, bytes int) error {
	if bandwidth == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(bandwidth), paceBurst).WaitN
}

// backupID returns what tells the data directory from all others. It makes that up when it is first needed. A backup
// does not have it, so a restored directory is another one.
func backupID(dir string) (string, error) {
	file := filepath.Join(dir, datadir.BackupIDFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(rand.Text() + "\n")
		err = durable.Create(file, text)
	}
	id := strings.TrimSpace(string(text))
	if err == nil && id == "" {
		err = errors.New("it is empty: remove it, and name a new place for backups")
	}
	if err != nil {
		return "", fmt.Errorf("the identity of the data directory: %w", err)
	}
	return id, nil
}

// note keeps in mind what has become of an attempt, and logs failures and the first success after one.
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
	if c.last.IsZero() || c.problem != "" {
		level = slog.LevelInfo
	}
	c.last, c.problem = m.Created, ""
	c.log.Log(context.Background(), level, "a continuous backup was made", "to", c.config.BackupTo,
		"moment", m.Created, "number", m.Number, "duration", took)
}

// age returns the age of the last backup, and until there is one the time since the server was started.
func (c *continuous) age() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := c.last
	if since.IsZero() {
		since = c.began
	}
	return max(0, c.config.Now().Sub(since))
}

func (c *continuous) failed() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failures
}

// lateAfter is how old the last backup may be at the least before it is a problem.
const lateAfter = 5 * time.Minute

// describe says how the continuous backups stand; nil: there are none.
func (c *continuous) describe() *admin.ContinuousBackup {
	if !c.on() {
		return nil
	}
	late := c.age() > max(lateAfter, 3*c.config.BackupEvery)
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &admin.ContinuousBackup{To: c.config.BackupTo, Late: late, Failure: c.problem}
	if !c.last.IsZero() {
		out.LastMoment = new(c.last.UnixMilli())
	}
	return out
}
