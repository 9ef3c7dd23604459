package repository

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/backup"
)

// format is the number of the format of moments that this program writes and reads.
const format = 1

// Moment is a data directory in its state at one time, About.Created. It has everything that was acknowledged before.
type Moment struct {
	backup.About
	Number int64 // counted from 1
	Files  []File
	// Removing has the names of the objects that its writer may remove once the moment is stored, RemovingPacked those
	// of compressed objects: programs that know only the others read past them.
	Removing       []string `json:",omitempty"`
	RemovingPacked []string `json:",omitempty"`
}

// removing returns the names of all objects that its writer may remove.
func (m *Moment) removing() []string { return slices.Concat(m.Removing, m.RemovingPacked) }

// remove records the names of objects that its writer may remove.
func (m *Moment) remove(names []string) {
	for _, name := range names {
		if isDigest(name) {
			m.Removing = append(m.Removing, name)
		} else {
			m.RemovingPacked = append(m.RemovingPacked, name)
		}
	}
}

// File is a file of a moment.
type File struct {
	Name   string // a clean path below the data directory, with slashes
	Size   int64  // bytes
	SHA256 string // of its contents, in hex
	Packed int64  `json:",omitempty"` // bytes of its object, if that is compressed
}

// Contents returns the amount of data in the moment.
func (m *Moment) Contents() backup.Contents {
	c := backup.Contents{Files: len(m.Files)}
	for _, f := range m.Files {
		c.Bytes += f.Size
	}
	return c
}

const (
	ownerKey      = "owner.json"
	momentsPrefix = "moments/"
	momentsSuffix = ".json"
	objectsPrefix = "objects/"
	// maxMeta is the maximum size of a moment and of an owner, in bytes. A file takes about 150.
	maxMeta = 64 << 20
)

func momentKey(number int64) string {
	return fmt.Sprintf("%s%012d%s", momentsPrefix, number, momentsSuffix)
}

// momentNumber returns the number of the moment with a key. Other objects are not ours.
func momentNumber(key string) (int64, bool) {
	digits := strings.TrimSuffix(strings.TrimPrefix(key, momentsPrefix), momentsSuffix)
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n > 0 && momentKey(n) == key
}

func objectKey(name string) string { return objectsPrefix + name }

// objectName returns the name in an object's key. Other objects are not ours.
func objectName(key string) (string, bool) {
	name := strings.TrimPrefix(key, objectsPrefix)
	return name, isObject(name) && objectKey(name) == key
}

func isDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == digestSize && s == strings.ToLower(s)
}

// encode returns a moment as it is stored.
func (m *Moment) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", " ")
	return append(text, '\n'), err
}

// decode reads a moment, which comes from outside.
func decode(text []byte, number int64) (*Moment, error) {
	m := new(Moment)
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%w: %w", backup.ErrNoBackup, err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("it has the format %d, which this program does not know", m.Format)
	}
	if _, err := d.Token(); err != io.EOF || m.Number != number || len(m.Files) == 0 {
		return nil, fmt.Errorf("%w: it is not moment %d", backup.ErrNoBackup, number)
	}
	names := make(map[string]bool, len(m.Files))
	for _, f := range m.Files {
		if !backup.IsName(f.Name) || names[f.Name] || f.Size < 0 || !isDigest(f.SHA256) || f.Packed < 0 ||
			f.Packed > f.Size {
			return nil, fmt.Errorf("%w: it has a file %q", backup.ErrNoBackup, f.Name)
		}
		names[f.Name] = true
	}
	for _, name := range m.removing() {
		if !isObject(name) {
			return nil, fmt.Errorf("%w: it removes an object %q", backup.ErrNoBackup, name)
		}
	}
	return m, nil
}
