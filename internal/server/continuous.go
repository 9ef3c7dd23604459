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

// continuous makes one backup after the other in an object store. Clients never wait for it: it takes a snapshot, as a
// backup on request does, and reads that at its own pace.
type continuous struct {
	config  *Config
	log     *slog.Logger
	storage *storage
	backups *backups // makes snapshots
	began   time.Time

	place  bucket.Place // nil until it is open, as is writer
	writer *repository.Writer

	mu       sync.Mutex
	last     time.Time // time of the last backup; zero: none since the server started
	failures uint64
	problem  string // error of the last attempt; empty: none
}

func newContinuous(c *Config, st *storage, b *backups) *continuous {
	return &continuous{config: c, log: c.Logger, storage: st, backups: b, began: c.Now()}
}

// on reports whether continuous backups are configured.
func (c *continuous) on() bool { return c.config.BackupTo != "" }

// Run makes backups until ctx ends. If one takes longer than the interval, the next begins when it has ended.
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

// step makes one backup, records its outcome, and removes old backups.
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

// paceBurst is the maximum number of bytes read at once. A repository never asks for more.
const paceBurst = 64 << 10

// pace returns a limiter of the bytes that backups read per second, or nil for 0.
func pace(bandwidth int64) func(ctx context.Context, bytes int) error {
	if bandwidth == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(bandwidth), paceBurst).WaitN
}

// backupID returns the id that distinguishes the data directory from all others. It creates the id at the first use. A
// backup does not include it, so a restored directory is another one.
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
	if c.last.IsZero() || c.problem != "" {
		level = slog.LevelInfo
	}
	c.last, c.problem = m.Created, ""
	c.log.Log(context.Background(), level, "a continuous backup was made", "to", c.config.BackupTo,
		"moment", m.Created, "number", m.Number, "duration", took)
}

// age returns the age of the last backup or, before the first one, the time since the server started.
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

// lateAfter is the minimum age at which the last backup counts as a problem.
const lateAfter = 5 * time.Minute

// describe returns the state of the continuous backups, or nil if there are none.
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
