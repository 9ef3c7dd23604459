package torture

import (
	"os"
	"path/filepath"
	"testing"
)

// A disk that loses power keeps synced data, and loses recently written data.
func TestDiskLosesPower(t *testing.T) {
	if why := ownDisks(nil); why != "" {
		t.Skip(why)
	}
	d, err := newDisk(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.remove(); err != nil {
			t.Error(err)
		}
	}()
	write := func(name string, sync bool) {
		t.Helper()
		f, err := os.Create(filepath.Join(d.dir, name))
		if err == nil {
			_, err = f.WriteString("content of " + name)
		}
		if err == nil && sync {
			err = f.Sync()
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(d.dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	// The kernel may write a file at any moment, but not just before the power fails in all rounds.
	for range 10 {
		write("synced", true)
		write("written", false)
		if err := d.losePower(); err != nil {
			t.Fatal(err)
		}
		if got := read("synced"); got != "content of synced" {
			t.Fatalf("the synced data is %q", got)
		}
		if read("written") == "" {
			return
		}
	}
	t.Error("the unsynced data survives each time")
}
