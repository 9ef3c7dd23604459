package upgrade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/test/program"
)

// build builds today's program with a clock that can be set.
func build(t *testing.T) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("the server cannot be built without the go tool: %v", err)
	}
	binary := filepath.Join(t.TempDir(), "sluice")
	if out, err := exec.CommandContext(t.Context(), tool, "build", "-tags", "faults", "-o", binary,
		"github.com/sluicemq/sluice/cmd/sluice").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// fixture returns a data directory and the list of its contents.
func fixture(t *testing.T, list string) (dir string, content *Content) {
	t.Helper()
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(strings.TrimSuffix(list, ".json") + ".tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "data")
	if err := Unpack(packed, dir); err != nil {
		t.Fatal(err)
	}
	return dir, content
}

// restored returns a data directory from the last of the continuous backups in a place.
func restored(t *testing.T, binary, place string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "restored")
	cmd := exec.CommandContext(t.Context(), binary, "restore", "file://"+filepath.ToSlash(place), "--data", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func TestDataOfEarlierVersionsIsRead(t *testing.T) {
	program.Long(t)
	lists, err := filepath.Glob("testdata/*.json")
	if err != nil || len(lists) == 0 {
		t.Fatal("there are no fixtures", err)
	}
	binary := build(t)
	for _, list := range lists {
		t.Run(strings.TrimSuffix(filepath.Base(list), ".json"), func(t *testing.T) {
			dir, content := fixture(t, list)
			if content.Backup {
				dir = restored(t, binary, dir)
			}
			if out, err := exec.CommandContext(t.Context(), binary, "doctor", "--data",
				dir).CombinedOutput(); err != nil {
				t.Errorf("the doctor: %v: %s", err, out)
			}
			clock, log, trails := filepath.Join(t.TempDir(), "clock"), filepath.Join(t.TempDir(), "log"), t.TempDir()
			if err := os.Mkdir(filepath.Join(trails, Bucket), 0o700); err != nil {
				t.Fatal(err)
			}
			ahead := time.Until(content.Made.Add(time.Minute))
			var c *Client
			later := func(d time.Duration) error {
				ahead += d
				if c != nil {
					c.Ahead = ahead
				}
				return os.WriteFile(clock, fmt.Appendln(nil, ahead), 0o600)
			}
			if err := later(0); err != nil {
				t.Fatal(err)
			}
			env := []string{"SLUICE_CLOCK_FAULTS=" + clock, "SLUICE_TRAIL_DIR=" + trails}
			if content.Keys != "" {
				keys := filepath.Join(t.TempDir(), "keys")
				if err := os.WriteFile(keys, []byte(content.Keys), 0o600); err != nil {
					t.Fatal(err)
				}
				env = append(env, "SLUICE_ENCRYPTION_KEY_FILE="+keys)
			}
			s, err := Start(t.Context(), binary, dir, log, env...)
			if err != nil {
				t.Fatal(err)
			}
			c = s.Client()
			c.Ahead = ahead
			err = Check(t.Context(), c, content, trails, func(d time.Duration) error {
				if err := later(d); err != nil {
					return err
				}
				// The server refuses requests that are 15 minutes behind its clock.
				eventually.Succeeds(t,
					func() error { return c.SQS(t.Context(), "ListQueues", map[string]string{}, nil) })
				return nil
			})
			if err := errors.Join(err, s.Stop()); err != nil {
				text, _ := os.ReadFile(log) // only for the error
				t.Fatalf("%v\n%s", err, text)
			}
			format, err := datadir.ReadFormat(dir)
			if content.Backup {
				content.Format = formats.Sizes // the number of its backup differs from the data's
			}
			if err != nil || format.Number < max(content.Format, 1) {
				t.Errorf("the format is %d after %d, %v", format.Number, content.Format, err)
			}
		})
	}
}

// A program that is too old for a directory reports that, and changes nothing in it.
func TestDirectoryOfALaterVersionIsRefused(t *testing.T) {
	program.Long(t)
	lists, err := filepath.Glob("testdata/*-stopped.json")
	if err != nil || len(lists) == 0 {
		t.Fatal("there are no fixtures", err)
	}
	dir, _ := fixture(t, lists[len(lists)-1])
	text := fmt.Sprintf(`{"format":%d,"version":"9.0"}`, formats.Newest+1)
	if err := os.WriteFile(filepath.Join(dir, datadir.FormatFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := Pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(t.Context(), build(t), dir, filepath.Join(t.TempDir(), "log"))
	if want := fmt.Sprintf("was written by Sluice 9.0, format %d; this program reads formats up to %d",
		formats.Newest+1, formats.Newest); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if after, err := Pack(dir); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the directory was changed, %v", err)
	}
}
