package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/backup/repository"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// backedUp is the configuration of a server with continuous backups.
func backedUp(data, to string) Config {
	c := inMemory()
	c.InMemory, c.Data = false, data
	c.BackupTo, c.BackupEvery = "file://"+filepath.ToSlash(to), time.Second
	return c
}

// waitForMoment waits for a backup that contains everything acknowledged before.
func waitForMoment(t *testing.T, to string) {
	t.Helper()
	now := time.Now()
	eventually.Succeeds(t, func() error {
		p, err := bucket.OpenPlace(t.Context(), "file://"+filepath.ToSlash(to), false)
		if err != nil {
			return err
		}
		defer func() { _ = p.Close() }()
		m, err := repository.New(p).At(t.Context(), time.Time{})
		if err == nil && m.Created.Before(now) {
			err = fmt.Errorf("the last one is of %s", m.Created)
		}
		return err
	})
}

// In the backup place, encrypted messages are ciphertext.
func TestContinuousBackupIsEncrypted(t *testing.T) {
	t.Parallel()
	const n = 80
	for _, encrypts := range []bool{false, true} {
		dir := t.TempDir()
		c := backedUp(filepath.Join(dir, "data"), filepath.Join(dir, "backups"))
		if encrypts {
			c.EncryptionKeyFile = encrypted(dir).EncryptionKeyFile
		}
		s, _ := start(t, c)
		client := clientOf(t, s, inJSON)
		client.Region = "us-east-1"
		client.Make("CreateQueue", object{"QueueName": "q"})
		fill(t, s, "q", n)
		waitForMoment(t, filepath.Join(dir, "backups"))
		if found := occurrences(t, filepath.Join(dir, "backups"), plaintext); encrypts != (found == 0) {
			t.Errorf("encrypted: %v; the text is found %d times", encrypts, found)
		}
	}
}

// A place that fails does not affect clients, and is used again when it works.
func TestContinuousBackupThatFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blocked := filepath.Join(dir, "mount")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log safeBuffer
	config := backedUp(filepath.Join(dir, "data"), filepath.Join(blocked, "backups"))
	config.MetricsListen = "127.0.0.1:0"
	config.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, _ := start(t, config)
	eventually.True(t, "failed",
		func() bool { return strings.Contains(log.String(), "the continuous backup has failed") })
	c := clientOf(t, s, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
	text := exposed(t, s)
	if !strings.Contains(text, "sluice_backup_age_seconds ") ||
		strings.Contains(text, "sluice_backup_failures_total 0\n") {
		t.Errorf("the metrics are %s", text)
	}
	if b := s.administration.continuous.describe(); b == nil || b.Failure == "" || b.LastMoment != nil {
		t.Errorf("the status is %+v", b)
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	waitForMoment(t, filepath.Join(blocked, "backups"))
	eventually.True(t, "in order", func() bool {
		b := s.administration.continuous.describe()
		return b.Failure == "" && b.LastMoment != nil && !b.Late
	})
	if left, err := filepath.Glob(filepath.Join(config.Data, snapshotPrefix+"*")); err != nil || len(left) > 1 {
		t.Errorf("there are %v, %v", left, err)
	}
}

// A failed snapshot leaves no files, which would hold the space of deleted data.
func TestFailedSnapshotLeavesNothing(t *testing.T) {
	t.Parallel()
	config := onDisk(t.TempDir())
	s, _ := start(t, config)
	file := filepath.Join(config.Data, datadir.FormatFile)
	for _, c := range []struct {
		text string
		left int
	}{{"no format", 0}, {`{"format":1}`, 1}} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		dir, err := s.administration.backups.snapshot(t.Context(), new(backup.About))
		if (err == nil) != (c.left == 1) {
			t.Errorf("%s: %q, %v", c.text, dir, err)
		}
		if left, err := filepath.Glob(filepath.Join(config.Data, snapshotPrefix+"*")); err != nil ||
			len(left) != c.left {
			t.Errorf("%s: there are %v, %v", c.text, left, err)
		}
	}
}

func exposed(t *testing.T, s *Server) string {
	t.Helper()
	r, err := http.Get("http://" + s.exposition.listener.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A second server is refused the place of the first, and still serves its clients.
func TestContinuousBackupOfTwoServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to := filepath.Join(dir, "backups")
	_, stop := start(t, backedUp(filepath.Join(dir, "a"), to))
	waitForMoment(t, to)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	before := names(t, to)
	var log safeBuffer
	second := backedUp(filepath.Join(dir, "b"), to)
	second.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, _ := start(t, second)
	eventually.True(t, "refused", func() bool { return strings.Contains(log.String(), "in use by another server") })
	c := clientOf(t, s, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	if after := names(t, to); !maps.Equal(before, after) {
		t.Errorf("the place had %v, and has %v", before, after)
	}
}

// names returns the files below a directory.
func names(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := make(map[string]bool)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		out[path] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A nearly full disk gets no snapshot, which would hold the space of deleted data.
func TestContinuousBackupOnALowDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := backedUp(filepath.Join(dir, "data"), filepath.Join(dir, "backups"))
	config.MinFreeSpace = 1 << 62
	var log safeBuffer
	config.Logger = slog.New(slog.NewTextHandler(&log, nil))
	start(t, config)
	eventually.True(t, "refused",
		func() bool { return strings.Contains(log.String(), "the continuous backup has failed") })
	if _, err := os.Stat(filepath.Join(dir, "backups")); !os.IsNotExist(err) {
		t.Errorf("there is a place: %v", err)
	}
}

// A backup is late when the last one is too old, relative to the interval.
func TestContinuousBackupIsLate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	config := backedUp("data", "backups")
	config.Now, config.Logger = func() time.Time { return now }, slog.New(slog.DiscardHandler)
	for every, after := range map[time.Duration]time.Duration{time.Minute: 5 * time.Minute, time.Hour: 3 * time.Hour} {
		config.BackupEvery = every
		c := newContinuous(&config, &storage{control: control.New(control.Options{})}, nil)
		late := func(want bool) {
			t.Helper()
			if b := c.describe(); b.Late != want {
				t.Errorf("every %s: late is %v at %s", every, b.Late, now)
			}
		}
		now = now.Add(after)
		late(false)
		now = now.Add(time.Second)
		late(true)
		c.note(&repository.Moment{About: backup.About{Created: now}}, nil, 0)
		late(false)
		now = now.Add(after + time.Second)
		c.note(nil, errors.New("the place is full"), 0)
		late(true)
		s := &admin.ServerStatus{Nodes: []admin.NodeStatus{{ContinuousBackup: c.describe()}}}
		if p := problems(new(status.Status), s); len(p) != 1 ||
			!strings.Contains(p[0].Problem, "is late: the place is full") {
			t.Errorf("the problems are %v", p)
		}
	}
}

// A node that does not own the control store makes no backups, and reports that another one does.
func TestContinuousBackupByAnotherNode(t *testing.T) {
	t.Parallel()
	config := backedUp("data", t.TempDir())
	config.Logger = slog.New(slog.DiscardHandler)
	c := newContinuous(&config, &storage{control: control.New(control.Options{Follow: true})}, nil)
	if _, ok := c.age(); ok {
		t.Error("it has a backup")
	}
	if b := c.describe(); !b.Standby || b.Late || b.LastMoment != nil {
		t.Errorf("the status is %+v", b)
	}
	if _, err := c.make(t.Context()); !errors.Is(err, errNotOwner) {
		t.Errorf("it makes one: %v", err)
	}
}

func TestProblemsOfContinuousBackups(t *testing.T) {
	t.Parallel()
	node := func(b *admin.ContinuousBackup) admin.NodeStatus {
		return admin.NodeStatus{Name: "a", ContinuousBackup: b}
	}
	makes, standby := &admin.ContinuousBackup{To: "s3://x"}, &admin.ContinuousBackup{To: "s3://x", Standby: true}
	late := &admin.ContinuousBackup{To: "s3://x", Late: true, Failure: "the bucket is gone"}
	for want, s := range map[string]*admin.ServerStatus{
		"":                             {Nodes: []admin.NodeStatus{node(standby), node(makes), node(standby)}},
		"by node a, is late: the buck": {Nodes: []admin.NodeStatus{node(standby), node(late)}},
		"has no --backup-to":           {Nodes: []admin.NodeStatus{node(nil), node(standby)}},
		"different values": {Nodes: []admin.NodeStatus{node(makes),
			node(&admin.ContinuousBackup{To: "s3://y", Standby: true})}},
	} {
		p := backupProblems(s)
		if want == "" && len(p) > 0 || want != "" && (len(p) != 1 || !strings.Contains(p[0].Problem, want)) {
			t.Errorf("%q: the problems are %v", want, p)
		}
	}
	between := &admin.ServerStatus{Nodes: []admin.NodeStatus{node(standby), node(standby)}}
	if p := backupProblems(between); len(p) > 0 {
		t.Errorf("while the shard control has no owner, the problems are %v", p)
	}
	silent := &admin.ServerStatus{Nodes: []admin.NodeStatus{node(standby)}, Silent: []string{"b"}}
	if p := backupProblems(silent); len(p) > 0 {
		t.Errorf("although a node that does not answer may make them, the problems are %v", p)
	}
}
