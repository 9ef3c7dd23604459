package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/datadir"
)

// BackupPath is where the operator gets a backup from, with a GET that is signed for
// the service "sluice".
const BackupPath = "/_sluice/backup"

// backupOperation is what a backup is called where operations are.
const backupOperation = "Backup"

const (
	// backupIdle is how long a client that fetches a backup may take for the next
	// part of it.
	backupIdle = 2 * time.Minute
	// snapshotTimeout is how long it may take to have here what is to be sent. A node of
	// a cluster fetches the shards that it does not keep from other nodes.
	snapshotTimeout = 30 * time.Minute
	// snapshotPrefix begins the names of directories with snapshots that are being sent.
	snapshotPrefix = "backup-"
)

// backups are made one at a time, each from a snapshot, which keeps the disk space of
// all that is deleted meanwhile.
type backups struct {
	one    sync.Mutex
	queues func() int      // how many there are
	ctx    context.Context // ends when the server stops
	stop   context.CancelFunc
}

func newBackups() *backups {
	b := new(backups)
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// runBackup answers with a backup of all that is kept.
func (x *exchange) runBackup() {
	x.server.metrics.Requests.Begin()
	x.service = x.serviceNamed("sluice")
	x.request = &protocol.Request{Kind: protocol.JSON, Operation: backupOperation, Target: x.service.Target}
	err := x.backup()
	if err != nil && x.begun {
		x.handler.log.Warn("backup was not finished", "request_id", x.id, "error", err)
	} else if err != nil {
		x.fail(err)
	}
	x.done()
	if err != nil && x.begun {
		// Only the end of the connection can say so.
		panic(http.ErrAbortHandler)
	}
}

func (x *exchange) backup() error {
	call := &protocol.Call{
		Operation: x.request.Operation, RequestID: x.id, TLS: x.encrypted, SourceIP: x.sourceIP, UserAgent: x.r.UserAgent(),
	}
	if err := x.authenticateTwice(call, nil); err != nil {
		return err
	}
	if err := x.cutOff(); err != nil {
		return err
	}
	err := x.server.operators.Authorize(call, backupOperation)
	if err != nil {
		var again bool
		if again, err = x.behind(err); again {
			err = x.server.operators.Authorize(call, backupOperation)
		}
	}
	if err != nil {
		return err
	}
	if x.server.config.InMemory {
		return backupError(http.StatusConflict, errors.New("this server keeps nothing: it was started with --in-memory"))
	}
	b := x.server.backups
	if !b.one.TryLock() {
		return backupError(http.StatusConflict, errors.New("another backup is being made; there can be one at a time"))
	}
	defer b.one.Unlock()
	control := http.NewResponseController(x.w)
	// The connection's deadlines are those of requests that are soon over.
	if err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Now().Add(snapshotTimeout+backupIdle))); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(x.r.Context())
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	about := backup.About{Version: x.server.config.Version, Created: x.began.UTC(), Queues: b.queues()}
	dir, err := x.server.snapshot(ctx, &about)
	if err != nil {
		return backupError(http.StatusServiceUnavailable, err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			x.handler.log.Warn("a backup's files are left behind", "directory", dir, "error", err)
		}
	}()
	x.begun = true
	x.w.Header().Set("Content-Type", "application/x-tar")
	x.w.Header().Set("Cache-Control", "no-store")
	x.w.Header().Set("X-Amzn-RequestId", x.id)
	if err := backup.Write(ctx, &patient{ctx, x.w, control}, about, dir); err != nil {
		return err
	}
	x.handler.log.Info("a backup was made", "request_id", x.id, "duration", time.Since(x.began).Round(time.Millisecond))
	return nil
}

// backupError says to the operator, who is the only one to see it, what is wrong.
func backupError(status int, err error) error {
	return errors.Join(&protocol.Error{
		Code: "BackupFailed", Type: "BackupFailedException", Status: status, Message: "There is no backup: " + err.Error() + ".",
	}, err)
}

// patient gives a client time for each part of a long answer.
type patient struct {
	ctx     context.Context
	w       io.Writer
	control *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	if err := p.control.SetWriteDeadline(time.Now().Add(backupIdle)); err != nil {
		return 0, err
	}
	return p.w.Write(b)
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
	if s.node != nil {
		status := s.node.Status()
		about.Cluster, about.Node = status.Cluster, status.Node
		about.Shards, err = s.node.Snapshot(ctx, dir)
	} else {
		about.Shards, err = 1, s.disk.Guard(func() error { return s.snapshotStores(dir) })
	}
	if err != nil {
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

// snapshotStores takes the messages before the queues: a queue that has come in
// between has none, while messages of unknown queues would be thrown away.
func (s *Server) snapshotStores(dir string) error {
	shard := filepath.Join(dir, ShardDir)
	if err := os.MkdirAll(filepath.Dir(shard), 0o700); err != nil {
		return err
	}
	if _, err := s.stored.Checkpoint(shard); err != nil {
		return err
	}
	_, err := s.records.Checkpoint(filepath.Join(dir, ControlDir))
	return err
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
