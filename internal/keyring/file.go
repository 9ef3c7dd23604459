package keyring

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/tool/durable"
)

const (
	header  = "sluice encryption keys 1"
	preface = "# The first key encrypts, all decrypt. Anyone with this file can read the messages;\n" +
		"# without it they are lost. Keep a copy away from the data, and change it with sluice key only.\n"
	sealedHeader  = "sluice encryption keys 2"
	sealedPreface = "# The first key encrypts, all decrypt. A key service has sealed the keys: reading the messages\n" +
		"# takes this file and that service. Keep a copy, and change it with sluice key only.\n"
	// maxFile exceeds the size of a file with maxKeys keys, in bytes.
	maxFile = 4 << 20
	// maxSealed exceeds the size of a key sealed by any key service, in bytes.
	maxSealed = 2048
	sumSize   = 16
)

// ErrNoFile reports that there is no file with keys.
var ErrNoFile = errors.New("the file with the encryption keys is missing")

// errTruncated reports that a file has no end.
var errTruncated = errors.New("it is truncated: its last line, which begins with end, is missing")

// Load reads the keys from the file at path. If there is none, the error is ErrNoFile. A file that others can read is
// refused, unless its keys are sealed. Its group may read a file of root: so systemd and Kubernetes give secrets to a
// process.
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
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the encryption keys: %w", err)
	}
	r, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a file with encryption keys, or is damaged: %w; restore it from a copy", path, err)
	}
	if mode := info.Mode().Perm(); mode&others(info) != 0 && !r.Sealed() {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 on it", path, mode)
	}
	return r, nil
}

// Create creates a file at path, where none may exist.
func (r *Ring) Create(path string) error {
	if err := r.write(path, durable.Create); err != nil {
		return fmt.Errorf("make the file with the encryption keys: %w", err)
	}
	return nil
}

// Replace replaces the file at path.
func (r *Ring) Replace(path string) error {
	if err := r.write(path, durable.Replace); err != nil {
		return fmt.Errorf("write the encryption keys: %w", err)
	}
	return nil
}

// write writes the file. No file has a sealed key beside one that is not.
func (r *Ring) write(path string, put func(string, []byte) error) error {
	if slices.ContainsFunc(r.keys, func(k *Key) bool { return (k.sealed != nil) != r.Sealed() }) {
		return errors.New("a key service has sealed only some of its keys: name it by --encryption-key-url")
	}
	return put(path, r.format())
}

// format returns the text of the file.
func (r *Ring) format() []byte {
	before, first := preface, header
	if r.Sealed() {
		before, first = sealedPreface, sealedHeader
	}
	var b bytes.Buffer
	b.WriteString(before)
	sum := sha256.New()
	w := io.MultiWriter(&b, sum)
	fmt.Fprintln(w, first)
	for _, k := range r.keys {
		fmt.Fprintf(w, "key %s %s %s\n", k.ID(), k.made.Format(time.RFC3339), k.digits())
	}
	fmt.Fprintf(&b, "end %x\n", sum.Sum(nil)[:sumSize])
	return b.Bytes()
}

// digits returns the key as it is in a file.
func (k *Key) digits() string {
	if k.sealed != nil {
		return base64.StdEncoding.EncodeToString(k.sealed)
	}
	return hex.EncodeToString(k.value[:])
}

// parse reads a file. All of it must be valid.
func parse(text []byte) (*Ring, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	lines := significant(string(text))
	if len(lines) == 0 || lines[0] != header && lines[0] != sealedHeader {
		return nil, fmt.Errorf("it does not begin with the line %q or %q", header, sealedHeader)
	}
	sealed := lines[0] == sealedHeader
	sum := sha256.New()
	_, _ = io.WriteString(sum, lines[0]+"\n")
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
		k, err := parseKey(line, sealed)
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
func parseKey(line string, sealed bool) (*Key, error) {
	var kind, id, at, digits string
	if n, err := fmt.Sscanf(line, "%s %s %s %s", &kind, &id, &at, &digits); n != 4 || err != nil || kind != "key" {
		return nil, errors.New(`want a line "key ID TIME HEX"`)
	}
	made, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return nil, errors.New("its time is not in the form of RFC 3339")
	}
	if sealed {
		return parseSealed(id, made.UTC(), digits)
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

// parseSealed reads a sealed key, which is not open.
func parseSealed(id string, made time.Time, digits string) (*Key, error) {
	u, err := uuid.Parse(id)
	if err != nil || u.String() != id {
		return nil, errors.New("its id is not a UUID")
	}
	k := &Key{id: u, made: made}
	if k.sealed, err = base64.StdEncoding.DecodeString(digits); err != nil || len(k.sealed) > maxSealed {
		return nil, fmt.Errorf("want at most %d bytes in base64", maxSealed)
	}
	return k, nil
}
