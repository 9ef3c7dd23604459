package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIncarnationIsTheDirectorys(t *testing.T) {
	dir := t.TempDir()
	first, err := openIncarnation(dir, "sluice", "a")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := openIncarnation(dir, "sluice", "a"); err != nil || again != first {
		t.Errorf("opened again: %v, %v; was %v", again, err, first)
	}
	if _, err := openIncarnation(dir, "sluice", "b"); err == nil {
		t.Error("the directory was taken for another node's")
	}
	if other, err := openIncarnation(t.TempDir(), "sluice", "a"); err != nil || other.server() == first.server() {
		t.Errorf("an empty directory is the same incarnation: %v, %v", other, err)
	}
	if err := os.WriteFile(filepath.Join(dir, NodeFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openIncarnation(dir, "sluice", "a"); err == nil {
		t.Error("a damaged file was accepted")
	}
}
