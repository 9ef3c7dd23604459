package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/datadir"
)

func TestIncarnationIsTheDirectorys(t *testing.T) {
	dir := t.TempDir()
	first, isNew, err := openIncarnation(dir, "sluice", "a")
	if err != nil || !isNew {
		t.Fatal(isNew, err)
	}
	if err := claimDirectory(dir); err != nil {
		t.Fatal(err)
	}
	if again, isNew, err := openIncarnation(dir, "sluice", "a"); err != nil || isNew || again != first {
		t.Errorf("opened again: %v, %t, %v; was %v", again, isNew, err, first)
	}
	if _, _, err := openIncarnation(dir, "sluice", "b"); err == nil || !strings.Contains(err.Error(), "--node a") {
		t.Errorf("the directory is opened for another node: %v", err)
	}
	if other, _, err := openIncarnation(t.TempDir(), "sluice", "a"); err != nil || other.server() == first.server() {
		t.Errorf("an empty directory is the same incarnation: %v, %v", other, err)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.NodeFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openIncarnation(dir, "sluice", "a"); err == nil {
		t.Error("a damaged file was accepted")
	}
}

// A directory does not belong to a node that has not found its cluster yet.
func TestAttemptToJoinBindsNothing(t *testing.T) {
	dir := t.TempDir()
	first, _, err := openIncarnation(dir, "sluice", "aa")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, datadir.NodeFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory belongs to a node: %v", err)
	}
	if again, isNew, err := openIncarnation(dir, "sluice", "aa"); err != nil || !isNew || again != first {
		t.Errorf("the next attempt is %v, %t, %v; the first was %v", again, isNew, err, first)
	}
	log := filepath.Join(dir, datadir.LogDir)
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	second, isNew, err := openIncarnation(dir, "sluice", "a")
	if err != nil || !isNew || second.Node != "a" {
		t.Fatalf("under another name: %v, %t, %v", second, isNew, err)
	}
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Error("the other name's log is still there")
	}
	if err := errors.Join(claimDirectory(dir), releaseDirectory(dir)); err != nil {
		t.Fatal(err)
	}
	if again, isNew, err := openIncarnation(dir, "sluice", "a"); err != nil || !isNew || again != second {
		t.Errorf("after the name was restored: %v, %t, %v", again, isNew, err)
	}
}
