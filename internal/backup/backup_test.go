package backup

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/datadir"
)

func sample(t *testing.T) (dir string, stream []byte) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"credentials": "secret", "shards/0001/000004.sst": "rows", "control/CURRENT": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := Write(t.Context(), &b, About{Version: "1", Created: time.Unix(1, 0).UTC(), Shards: 2}, dir); err != nil {
		t.Fatal(err)
	}
	return dir, b.Bytes()
}

func asItIs(string, About) error { return nil }

func TestRestoreIsNothingUnlessReady(t *testing.T) {
	_, stream := sample(t)
	to := filepath.Join(t.TempDir(), "data")
	unready := errors.New("not ready")
	_, err := Restore(bytes.NewReader(stream), to, func(dir string, about About) error {
		if _, err := os.Stat(filepath.Join(dir, "credentials")); err != nil || about.Shards != 2 {
			t.Errorf("the directory to prepare: %v, %+v", err, about)
		}
		return unready
	})
	if !errors.Is(err, unready) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Error("a directory exists")
	}
}

func TestRestoreGivesBackWhatWasWritten(t *testing.T) {
	from, stream := sample(t)
	to := filepath.Join(t.TempDir(), "new", "data")
	about, err := Restore(bytes.NewReader(stream), to, asItIs)
	if err != nil {
		t.Fatal(err)
	}
	if about.Shards != 2 || !about.Created.Equal(time.Unix(1, 0)) {
		t.Errorf("about: %+v", about)
	}
	if err := os.CopyFS(filepath.Join(t.TempDir(), "copy"), os.DirFS(to)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"credentials", "shards/0001/000004.sst", "control/CURRENT"} {
		want, _ := os.ReadFile(filepath.Join(from, name))
		got, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "credentials")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the credentials: %v, %v", info.Mode(), err)
	}
}

func TestVerifySaysWhatThereIs(t *testing.T) {
	_, stream := sample(t)
	about, holds, err := Verify(bytes.NewReader(stream))
	if err != nil || about.Shards != 2 || holds != (Contents{Files: 3, Bytes: int64(len("secret" + "rows"))}) {
		t.Errorf("%+v, %+v, %v", about, holds, err)
	}
}

// The shards of a backup may come from several machines.
func TestWriterTakesFilesFromAnywhere(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(one, "a"): "1", filepath.Join(other, "b"): "22"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stream bytes.Buffer
	w, err := NewWriter(&stream, About{Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		w.AddDir(t.Context(), "shards/0001", one), w.AddDir(t.Context(), "shards/0002", other),
		w.Add("shards/0002/c", 3, time.Time{}, strings.NewReader("333")),
		w.Add("empty", 0, time.Time{}, strings.NewReader("")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"empty", "../out", "/root", "a/../b", "", ".", "a//b", sumsEntry, aboutEntry} {
		if err := w.Add(name, 0, time.Time{}, strings.NewReader("")); err == nil {
			t.Errorf("there can be a file %q", name)
		}
	}
	if _, _, err := Verify(bytes.NewReader(stream.Bytes())); !errors.Is(err, ErrNoBackup) {
		t.Errorf("before its end: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "data")
	if _, err := Restore(&stream, to, asItIs); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"shards/0001/a": "1", "shards/0002/b": "22", "shards/0002/c": "333", "empty": "",
	} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestFilesMayNotEndEarly(t *testing.T) {
	w, err := NewWriter(io.Discard, About{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("a", 4, time.Time{}, strings.NewReader("123")); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestNewerDataAreRefused(t *testing.T) {
	var stream bytes.Buffer
	if err := Write(t.Context(), &stream, About{Data: datadir.Format{Number: 99, Version: "9.9"}},
		t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Verify(bytes.NewReader(stream.Bytes())); !errors.Is(err, datadir.ErrTooNew) {
		t.Errorf("verify: %v", err)
	}
	if _, err := Restore(&stream, filepath.Join(t.TempDir(), "data"), asItIs); !errors.Is(err, datadir.ErrTooNew) {
		t.Errorf("restore: %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	var b bytes.Buffer
	w, err := NewWriter(&b, About{Shards: 1})
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(w.Add("a", 1, time.Time{}, strings.NewReader("1")), w.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, stream []byte) {
		_, holds, err := Verify(bytes.NewReader(stream))
		if err == nil && holds.Bytes > int64(len(stream)) {
			t.Errorf("%d bytes of %d", holds.Bytes, len(stream))
		}
	})
}

func TestRestoreRefusesWhatIsNotWhole(t *testing.T) {
	_, stream := sample(t)
	refused := func(name string, stream []byte) {
		to := filepath.Join(t.TempDir(), "data")
		if _, err := Restore(bytes.NewReader(stream), to, asItIs); !errors.Is(err, ErrNoBackup) {
			t.Errorf("%s: %v", name, err)
		}
		for _, dir := range []string{to, to + ".restoring"} {
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s was left behind", name, dir)
			}
		}
	}
	// The archive's own end is 1,024 zero bytes, which no reader needs.
	for cut := 0; cut < len(stream)-1024-512; cut += 256 {
		refused("cut short", stream[:cut])
	}
	for _, name := range []string{"late", aboutEntry, sumsEntry, "credentials"} {
		refused("an entry behind the checksums: "+name, followed(t, stream, name))
	}
	damaged := bytes.Replace(stream, []byte("rows"), []byte("cows"), 1)
	refused("damaged", damaged)
	refused("something else", []byte("hello"))
	refused("a path that leads out",
		bytes.Replace(stream, []byte("credentials\x00\x00\x00"), []byte("../credential\x00"), 1))
}

// followed returns a backup with one more entry, behind the last one.
func followed(t *testing.T, stream []byte, name string) []byte {
	t.Helper()
	var out bytes.Buffer
	to, from := tar.NewWriter(&out), tar.NewReader(bytes.NewReader(stream))
	for {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := to.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 2, Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Write([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A file with holes, for which an archive has only the size, is refused before any of it is written: it could fill the
// disk.
func TestHolesAreRefused(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, About{Version: "1", Created: time.Unix(1, 0).UTC()})
	if err == nil {
		err = w.out.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := tar.NewWriter(&b)
	records := ""
	for _, r := range []string{"GNU.sparse.size=1099511627776", "GNU.sparse.numblocks=1", "GNU.sparse.map=0,0"} {
		records += fmt.Sprintf("%d %s\n", len(r)+4, r) // the number has two digits
	}
	at := b.Len()
	header := &tar.Header{Typeflag: tar.TypeReg, Name: "x", Size: int64(len(records)), Mode: 0o600}
	if err := out.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	setType(b.Bytes()[at:at+512], tar.TypeXHeader)
	if _, err := io.WriteString(out, records); err != nil {
		t.Fatal(err)
	}
	header = &tar.Header{Typeflag: tar.TypeReg, Name: "shards/0001/000004.sst", Mode: 0o600}
	if err := out.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	in := tar.NewReader(&b)
	if _, err := in.Next(); err != nil {
		t.Fatal(err)
	}
	_, err = readFiles(in, func(name string) (io.WriteCloser, error) {
		return nil, fmt.Errorf("%s is created", name)
	})
	if !errors.Is(err, ErrNoBackup) || !strings.Contains(err.Error(), "000004.sst") {
		t.Error(err)
	}
}

// setType changes the type in the header of a tar archive.
func setType(header []byte, is byte) {
	header[156] = is
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00", sum))
}

// A killed restore leaves a part behind, which the next one neither uses nor removes.
func TestRestoreAfterOneThatWasKilled(t *testing.T) {
	_, stream := sample(t)
	to := filepath.Join(t.TempDir(), "a", "b", "data")
	left := filepath.Join(to+".restoring", "credentials")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(bytes.NewReader(stream), to, asItIs); err == nil ||
		!strings.Contains(err.Error(), "remove it") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a file of another restore: %v", err)
	}
	if err := os.RemoveAll(to + ".restoring"); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(bytes.NewReader(stream), to+string(filepath.Separator), asItIs); err != nil {
		t.Error(err)
	}
}

func TestRestoreLeavesOtherDataAlone(t *testing.T) {
	from, stream := sample(t)
	if _, err := Restore(bytes.NewReader(stream), from, asItIs); err == nil {
		t.Error("a directory with data was overwritten")
	}
}
