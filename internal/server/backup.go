package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
)

// BackupPath is where the operator gets a backup from, with a GET that is signed for
// the service "sluice".
const BackupPath = "/_sluice/backup"

// backupOperation is what a backup is called where operations are.
const backupOperation = "Backup"

const (
	// snapshotTimeout is how long it may take to have here what is to be sent. A node of
	// a cluster fetches the shards that it does not keep from other nodes.
	snapshotTimeout = 30 * time.Minute
	// snapshotPrefix begins the names of directories with snapshots that are being sent.
	snapshotPrefix = "backup-"
)

// backups are made one at a time, each from a snapshot, which keeps the disk space of
// all that is deleted meanwhile.
type backups struct {
	one     sync.Mutex
	running atomic.Bool
	last    atomic.Int64    // when the latest was complete, in Unix milliseconds; 0: there was none
	queues  func() int      // how many there are
	ctx     context.Context // ends when the server stops
	stop    context.CancelFunc
}

func newBackups() *backups {
	b := new(backups)
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// backupStream is how clients get a backup of all that is kept.
func (s *Server) backupStream() front.Stream {
	return front.Stream{
		Path: BackupPath, Service: admin.ServiceName, Operation: backupOperation, Serve: s.serveBackup,
		Authorize: func(call *protocol.Call) error { return s.operators.Authorize(call, backupOperation) },
	}
}

func (s *Server) serveBackup(ctx context.Context, call *protocol.Call, out *front.StreamWriter) error {
	if s.config.InMemory {
		return backupError(http.StatusConflict, errors.New("this server keeps nothing: it was started with --in-memory"))
	}
	b := s.backups
	if !b.one.TryLock() {
		return backupError(http.StatusConflict, errors.New("another backup is being made; there can be one at a time"))
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
	began := s.config.Now()
	about := backup.About{Version: s.config.Version, Created: began.UTC(), Queues: b.queues()}
	dir, err := s.snapshot(ctx, &about)
	if err != nil {
		return backupError(http.StatusServiceUnavailable, err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			s.log.Warn("a backup's files are left behind", "directory", dir, "error", err)
		}
	}()
	if err := backup.Write(ctx, out.Begin(ctx, "application/x-tar"), about, dir); err != nil {
		return err
	}
	b.last.Store(s.config.Now().UnixMilli())
	s.log.Info("a backup was made", "request_id", call.RequestID, "duration", time.Since(began).Round(time.Millisecond))
	return nil
}

// backupError says to the operator, who is the only one to see it, what is wrong.
func backupError(status int, err error) error {
	return errors.Join(&protocol.Error{
		Code: "BackupFailed", Type: "BackupFailedException", Status: status, Message: "There is no backup: " + err.Error() + ".",
	}, err)
}

// snapshot makes a directory with what a data directory has, as it is now: the
// tables are links, so it takes little space and time.
func (s *Server) snapshot(ctx context.Context, about *backup.About) (dir string, err error) {
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	dir, err = os.MkdirTemp(s.config.Data, snapshotPrefix)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("make a snapshot: %w", err), os.RemoveAll(dir))
		}
	}()
	status := s.node.Status()
	about.Cluster, about.Node = status.Cluster, status.Node
	if about.Shards, err = s.node.Snapshot(ctx, dir); err != nil {
		return "", err
	}
	if about.Data, err = datadir.ReadFormat(s.config.Data); err != nil {
		return "", err
	}
	for _, name := range []string{CredentialsFile, MasterKeyFile, datadir.FormatFile} {
		b, err := os.ReadFile(filepath.Join(s.config.Data, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // in a cluster the keys are in the control store
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}

// sweep removes the snapshots of a process that did not survive them. The stores must
// be open, so that no other process has any.
func (s *Server) sweep() error {
	if s.config.InMemory {
		return nil
	}
	left, err := filepath.Glob(filepath.Join(s.config.Data, snapshotPrefix+"*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
