package command_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/backup/repository"
	"github.com/sluicemq/sluice/internal/command"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// placeIn returns the URL of a place for backups below a directory.
func placeIn(dir string) string { return "file://" + filepath.ToSlash(dir) + "/backups" }

// listMoments lists the continuous backups in a place.
func listMoments(t *testing.T, place string) (out []time.Time, _ error) {
	t.Helper()
	text, _, err := run(t, "backup", "ls", place, "--json")
	if err != nil {
		return nil, err
	}
	var list struct{ Backups []struct{ Moment time.Time } }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	for _, m := range list.Backups {
		out = append(out, m.Moment)
	}
	return out, nil
}

// waitForMoment waits for a backup of a moment that is not before now.
func waitForMoment(t *testing.T, place string) (at time.Time) {
	t.Helper()
	now := time.Now()
	eventually.Succeeds(t, func() error {
		list, err := listMoments(t, place)
		if err == nil && (len(list) == 0 || list[len(list)-1].Before(now)) {
			err = fmt.Errorf("there are %v", list)
		}
		if err == nil {
			at = list[len(list)-1]
		}
		return err
	})
	return at
}

func TestContinuousBackupUnderLoadAndRestore(t *testing.T) {
	place := placeIn(t.TempDir())
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"), "--backup-to", place, "--backup-every", "1s")
	as(t, s.exports, "")
	l := startLoad(t, s)
	var at time.Time
	sent := l.backUpBy(t, func() { at = waitForMoment(t, place) })
	if out, _, err := run(t, "status", "--json"); err != nil || !strings.Contains(out, `"ContinuousBackup"`) ||
		!strings.Contains(out, place) {
		t.Errorf("the status: %v, %s", err, out)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	moment := at.Format(time.RFC3339Nano)
	if out, _, err := run(t, "backup", "verify", place, "--at", moment, "--scratch", t.TempDir()); err != nil ||
		!strings.Contains(out, "is sound") || !strings.Contains(out, "All digests") {
		t.Errorf("verify: %v\n%s", err, out)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if out, _, err := run(t, "restore", place, "--at", moment, "--data", restored); err != nil ||
		!strings.Contains(out, at.UTC().Format(time.DateTime)) {
		t.Fatal(err, out)
	}
	if _, _, err := run(t, "restore", place, "--data", restored); err == nil ||
		!strings.Contains(err.Error(), "is not empty") {
		t.Errorf("restored into a directory with data: %v", err)
	}
	again := serve(t, "--data", restored)
	if again.exports["AWS_SECRET_ACCESS_KEY"] != s.exports["AWS_SECRET_ACCESS_KEY"] {
		t.Error("the keys differ")
	}
	l.check(t, again, sent)
}

// In a cluster, one node makes the backups, and another takes over when it has stopped. A backup of either restores a
// new cluster, which is another installation: it cannot write to the same place.
func TestContinuousBackupOfThreeNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("this test starts five servers")
	}
	place := placeIn(t.TempDir())
	flags := []string{"--backup-to", place, "--backup-every", "1s"}
	first := serveThree(t, "", "", append(flags, "--shards", "3")...)
	waitWell(t, first["b"])
	l := startLoad(t, first["b"])
	maker := backupMaker(t)
	var moments [2]time.Time
	sent := l.backUpBy(t, func() { moments[0] = waitForMoment(t, place) })
	if err := first[maker].stop(); err != nil {
		t.Fatal(err)
	}
	moments[1] = waitForMoment(t, place)
	delete(first, maker)
	for _, s := range first {
		askStatus(t, s)
	}
	if next := backupMaker(t); next == maker {
		t.Errorf("node %s still makes the backups", next)
	}
	for _, s := range first {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}
	for _, at := range moments {
		moment := at.Format(time.RFC3339Nano)
		if out, _, err := run(t, "backup", "verify", place, "--at", moment, "--scratch", t.TempDir()); err != nil {
			t.Errorf("verify: %v\n%s", err, out)
		}
		data := filepath.Join(t.TempDir(), "restored")
		if _, _, err := run(t, "restore", place, "--at", moment, "--data", data); err != nil {
			t.Fatal(err)
		}
		again := serve(t,
			append(flags, "--data", data, "--node", "z", "--cluster", "z=127.0.0.1:0", "--cluster-name", "other")...)
		eventually.True(t, "refused",
			func() bool { return strings.Contains(askStatus(t, again), "in use by another server") })
		l.check(t, again, sent)
		if err := again.stop(); err != nil {
			t.Error(err)
		}
	}
}

// askStatus returns the status of a server as JSON. Later commands use the same server.
func askStatus(t *testing.T, s *serving) string {
	t.Helper()
	as(t, s.exports, "")
	t.Setenv("AWS_ENDPOINT_URL", s.exports["AWS_ENDPOINT_URL_SQS"])
	out, _, _ := run(t, "status", "--json") // its exit status says whether all is well
	return out
}

// backupMaker returns the node of a cluster that makes its backups, when it has made one.
func backupMaker(t *testing.T) (name string) {
	t.Helper()
	eventually.True(t, "a node makes backups", func() bool {
		var status struct {
			Nodes []struct {
				Name             string
				ContinuousBackup *struct {
					LastMoment *int64
					Standby    bool
				}
			}
		}
		out, _, _ := run(t, "status", "--json") // its exit status says whether all is well
		if json.Unmarshal([]byte(out), &status) != nil {
			return false
		}
		makers := 0
		for _, n := range status.Nodes {
			if b := n.ContinuousBackup; b != nil && !b.Standby && b.LastMoment != nil {
				name = n.Name
				makers++
			}
		}
		return makers == 1
	})
	return name
}

func TestContinuousBackupThatIsDamaged(t *testing.T) {
	dir := t.TempDir()
	place := placeIn(dir)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"), "--backup-to", place)
	at := waitForAnyMoment(t, place)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	objects, err := filepath.Glob(filepath.Join(dir, "backups", "objects", "*"))
	if err != nil || len(objects) == 0 {
		t.Fatal(objects, err)
	}
	for _, name := range objects {
		if err := os.WriteFile(name, []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scratch := t.TempDir()
	_, said, err := run(t, "backup", "verify", place, "--scratch", scratch)
	if command.Status(err) != 1 || !strings.Contains(said, "is not what was written") {
		t.Errorf("verify: %v, %s", err, said)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	to := filepath.Join(t.TempDir(), "to")
	if _, _, err := run(t, "restore", place, "--data", to); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("restore: %v", err)
	}
	if left, _ := filepath.Glob(to + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, _, err := run(t, "restore", place, "--data", to, "--at",
		at.Add(-time.Hour).Format(time.RFC3339)); !errors.Is(err, repository.ErrNoMoment) {
		t.Errorf("a time before the first backup: %v", err)
	}
}

// waitForAnyMoment waits for any backup.
func waitForAnyMoment(t *testing.T, place string) (at time.Time) {
	t.Helper()
	eventually.Succeeds(t, func() error {
		list, err := listMoments(t, place)
		if err == nil && len(list) == 0 {
			err = errors.New("there is none")
		}
		if err == nil {
			at = list[0]
		}
		return err
	})
	return at
}

// The server's URL, which many operators set in the environment, does not affect commands that call no server.
func TestContinuousBackupWithoutServer(t *testing.T) {
	t.Setenv("SLUICE_ENDPOINT", "http://127.0.0.1:9324")
	for _, name := range []string{"ls", "verify"} {
		if _, _, err := run(t, "backup", name, placeIn(t.TempDir())); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		_, _, err := run(t, "backup", name, placeIn(t.TempDir()), "--endpoint", "http://127.0.0.1:9324")
		if err == nil || !strings.Contains(err.Error(), "--endpoint") || command.Status(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestContinuousBackupInAWrongWay(t *testing.T) {
	place := placeIn(t.TempDir())
	for want, args := range map[string][]string{
		"has no effect with --in-memory":    {"serve", "--backup-to", place, "--in-memory"},
		"has no effect without --backup-to": {"serve", "--backup-every", "1m"},
		"want file:///DIRECTORY or s3://":   {"serve", "--backup-to", "/var/backups"},
		"want 1s to 24h0m0s":                {"serve", "--backup-to", place, "--backup-every", "0s"},
		"want 1h0m0s to":                    {"serve", "--backup-to", place, "--backup-keep", "1m"},
		"want 65536 or more":                {"serve", "--backup-to", place, "--backup-bandwidth", "1KiB"},
		"a file has one moment":             {"restore", "backup.tar", "--at", "1h"},
		"how long ago it was":               {"restore", place, "--at", "yesterday", "--data", t.TempDir()},
	} {
		if _, _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), want) ||
			command.Status(err) != 2 {
			t.Errorf("%q: %v, status %d", args, err, command.Status(err))
		}
	}
	if _, _, err := run(t, "backup", "ls", placeIn(t.TempDir())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing place: %v", err)
	}
}
