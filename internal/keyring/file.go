package keyring

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/tool/durable"
)

const (
	header  = "sluice encryption keys 1"
	preface = "# The first key encrypts, all decrypt. Anyone with this file can read the messages;\n" +
		"# without it they are lost. Keep a copy away from the data, and change it with sluice key only.\n"
	// maxFile is more than a file with maxKeys keys has, in bytes.
	maxFile = 256 << 10
	sumSize = 16
)

// ErrNoFile says that there is no file with keys.
var ErrNoFile = errors.New("the file with the encryption keys is missing")

// errTruncated says that a file has no end.
var errTruncated = errors.New("it is truncated: its last line, which begins with end, is missing")

// Load reads the keys from the file at path. If there is none, the error is ErrNoFile. A file that others can read is
// refused.
func Load(path string) (*Ring, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNoFile)
	} else if err != nil {
		return nil, fmt.Errorf("read the encryption keys: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the encryption keys: %w", err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 on it", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the encryption keys: %w", err)
	}
	r, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a file with encryption keys, or is damaged: %w; restore it from a copy", path, err)
	}
	return r, nil
}

// Create makes a file at path, where there must be none, with a new ring.
func Create(path string, now time.Time) (*Ring, error) {
	r := New(now)
	if err := durable.Create(path, r.format()); err != nil {
		return nil, fmt.Errorf("make the file with the encryption keys: %w", err)
	}
	return r, nil
}

// Replace replaces the file at path.
func (r *Ring) Replace(path string) error {
	if err := durable.Replace(path, r.format()); err != nil {
		return fmt.Errorf("write the encryption keys: %w", err)
	}
	return nil
}

// format returns the file.
func (r *Ring) format() []byte {
	var b bytes.Buffer
	b.WriteString(preface)
	sum := sha256.New()
	w := io.MultiWriter(&b, sum)
	fmt.Fprintln(w, header)
	for _, k := range r.keys {
		fmt.Fprintf(w, "key %s %s %x\n", k.ID(), k.made.Format(time.RFC3339), k.value)
	}
	fmt.Fprintf(&b, "end %x\n", sum.Sum(nil)[:sumSize])
	return b.Bytes()
}

// parse reads a file. All of it must be right.
func parse(text []byte) (*Ring, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	lines := significant(string(text))
	if len(lines) == 0 || lines[0] != header {
		return nil, fmt.Errorf("it does not begin with the line %q", header)
	}
	sum := sha256.New()
	_, _ = io.WriteString(sum, header+"\n")
	var keys []*Key
	for i, line := range lines[1:] {
		if end, ok := strings.CutPrefix(line, "end "); ok {
			if i+2 != len(lines) {
				return nil, errors.New("there are lines behind its end")
			}
			if err := checkSum(end, sum.Sum(nil)); err != nil {
				return nil, err
			}
			return newRing(keys)
		}
		k, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		if keys = append(keys, k); len(keys) > maxKeys {
			return nil, fmt.Errorf("it has more than %d keys", maxKeys)
		}
		_, _ = io.WriteString(sum, line+"\n")
	}
	return nil, errTruncated
}

// significant returns the lines that are neither empty nor comments.
func significant(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

func checkSum(text string, sum []byte) error {
	got, err := hex.DecodeString(text)
	switch {
	case err != nil || len(got) < sumSize:
		return errTruncated
	case subtle.ConstantTimeCompare(got, sum[:sumSize]) == 0:
		return errors.New("its keys are not those that were written: the sum in its last line differs")
	}
	return nil
}

// parseKey reads the line of a key. Its errors do not show the key.
func parseKey(line string) (*Key, error) {
	var kind, id, at, digits string
	if n, err := fmt.Sscanf(line, "%s %s %s %s", &kind, &id, &at, &digits); n != 4 || err != nil || kind != "key" {
		return nil, errors.New(`want a line "key ID TIME HEX"`)
	}
	made, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return nil, errors.New("its time is not in the form of RFC 3339")
	}
	var value [KeySize]byte
	if b, err := hex.DecodeString(digits); err != nil || len(b) != KeySize {
		return nil, fmt.Errorf("want %d hexadecimal digits", 2*KeySize)
	} else {
		copy(value[:], b)
	}
	k := newKey(value, made.UTC())
	if k.ID() != id {
		return nil, errors.New("its id is not that of its value")
	}
	return k, nil
}
