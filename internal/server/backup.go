package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/keyring"
)

// BackupPath is the path of backups on request: a GET that the operator signs for the service "sluice".
const BackupPath = "/_sluice/backup"

// backupOperation is the name of a backup among operations.
const backupOperation = "Backup"

const (
	// snapshotTimeout limits how long it takes to prepare a backup. A node of a cluster fetches the shards that it does
	// not keep from other nodes.
	snapshotTimeout = 30 * time.Minute
	// snapshotPrefix begins the names of the directories with snapshots for transfer.
	snapshotPrefix = "backup-"
)

// backups makes one backup at a time, each from a snapshot. A snapshot keeps the disk space of everything that is
// deleted meanwhile.
type backups struct {
	config  *Config
	log     *slog.Logger
	storage *storage
	keys    *keyring.Ring // that a backup has as well; nil: none
	one     sync.Mutex
	running atomic.Bool
	last    atomic.Int64    // completion of the latest, in Unix milliseconds; 0: none
	ctx     context.Context // ends when the server stops
	stop    context.CancelFunc
}

// newBackups removes the snapshots of a process that crashed. Backups have the keys as well, unless that is nil.
func newBackups(c *Config, st *storage, keys *keyring.Ring) (*backups, error) {
	b := &backups{config: c, log: c.Logger, storage: st, keys: keys}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b, b.sweep()
}

// stream sends an operator a backup of all data.
func (b *backups) stream(operators *admin.Authorizer) front.Stream {
	return front.Stream{
		Path: BackupPath, Service: admin.ServiceName, Operation: backupOperation, Serve: b.serve,
		Authorize: func(call *protocol.Call) error { return operators.Authorize(call, backupOperation) },
	}
}

func (b *backups) serve(ctx context.Context, call *protocol.Call, out *front.StreamWriter) error {
	if b.config.InMemory {
		return backupError(
			http.StatusConflict, errors.New("this server keeps nothing: it was started with --in-memory"),
		)
	}
	if !b.one.TryLock() {
		return backupError(http.StatusConflict, errors.New("another backup is in progress; only one can run at a time"))
	}
	defer b.one.Unlock()
	b.running.Store(true)
	defer b.running.Store(false)
	if err := out.Prepare(snapshotTimeout); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	began := b.config.Now()
	about := backup.About{Version: b.config.Version, Created: began.UTC(), Queues: b.storage.queues()}
	dir, err := b.snapshot(ctx, &about)
	if err != nil {
		return backupError(http.StatusServiceUnavailable, err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			b.log.Warn("a backup's files are left behind", "directory", dir, "error", err)
		}
	}()
	if err := backup.Write(ctx, out.Begin(ctx, "application/x-tar"), about, dir); err != nil {
		return err
	}
	b.last.Store(b.config.Now().UnixMilli())
	b.log.Info("a backup was made", "request_id", call.RequestID, "duration", time.Since(began).Round(time.Millisecond))
	return nil
}

// backupError describes an error to the operator. No other user sees it.
func backupError(status int, err error) error {
	return errors.Join(&protocol.Error{
		Code: "BackupFailed", Type: "BackupFailedException", Status: status,
		Message: "There is no backup: " + err.Error() + ".",
	}, err)
}

// snapshot creates a directory with the current contents of a data directory. The tables are hard links, so it takes
// little space and time.
func (b *backups) snapshot(ctx context.Context, about *backup.About) (_ string, err error) {
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	dir, err := os.MkdirTemp(b.config.Data, snapshotPrefix)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("make a snapshot: %w", err), os.RemoveAll(dir))
		}
	}()
	status := b.storage.node.Status()
	about.Cluster, about.Node = status.Cluster, status.Node
	if about.Shards, err = b.storage.node.Snapshot(ctx, dir); err != nil {
		return "", err
	}
	if about.Data, err = datadir.ReadFormat(b.config.Data); err != nil {
		return "", err
	}
	for _, name := range []string{CredentialsFile, MasterKeyFile, datadir.FormatFile} {
		content, err := os.ReadFile(filepath.Join(b.config.Data, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // in a cluster the keys are in the control store
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	if b.keys != nil {
		err = b.keys.Create(filepath.Join(dir, SealedKeyFile))
	}
	return dir, err
}

// sweep removes the snapshots of a process that crashed. The stores must be open, so that no other process has any.
func (b *backups) sweep() error {
	if b.config.InMemory {
		return nil
	}
	left, err := filepath.Glob(filepath.Join(b.config.Data, snapshotPrefix+"*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
