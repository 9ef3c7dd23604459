package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/tool/durable"
)

// Format is what a data directory needs of a program that opens it. The numbers are those of package formats.
type Format struct {
	Number  int    `json:"format"`
	Version string `json:"version,omitempty"` // of the program that first needed it
}

// ErrTooNew says that a data directory, or a backup of one, needs a newer program.
var ErrTooNew = errors.New("it needs a newer program")

// Check refuses a format that this program does not read. It names what has the
// format as in "the data directory /var/lib/sluice".
func (f Format) Check(what string) error {
	if f.Number <= formats.Newest {
		return nil
	}
	version := f.Version
	if version == "" {
		version = "of a later version"
	}
	return fmt.Errorf("%s was written by Sluice %s, format %d; this program reads formats up to %d: %w",
		what, version, f.Number, formats.Newest, ErrTooNew)
}

// maxFormatFile is more than such a file has.
const maxFormatFile = 4 << 10

// ReadFormat returns the format of the directory dir, or ErrTooNew.
func ReadFormat(dir string) (Format, error) {
	path := filepath.Join(dir, FormatFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Format{Number: formats.First}, nil
	} else if err != nil {
		return Format{}, fmt.Errorf("read the format of the data directory: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFormatFile))
	if err := errors.Join(err, f.Close()); err != nil {
		return Format{}, fmt.Errorf("read the format of the data directory: %w", err)
	}
	got, err := parseFormat(text)
	if err != nil {
		return Format{}, fmt.Errorf("%s does not contain the format of the data directory: %w", path, err)
	}
	return got, got.Check("the data directory " + dir)
}

func parseFormat(text []byte) (f Format, err error) {
	if err := json.Unmarshal(text, &f); err != nil {
		return f, err
	}
	if f.Number < formats.First {
		return f, fmt.Errorf("%d is no format", f.Number)
	}
	return f, nil
}

// requiring is held while a directory's format is read and written, so that the number never goes down: the shards of a
// node, and what is in its control store, may come to need different formats at the same time.
var requiring sync.Mutex

// Require writes down, durably, that the directory dir has at least that format
// from now on. A program of some version calls it before it first writes what
// older programs do not understand. It may be called by several goroutines.
func Require(dir string, number int, version string) error {
	requiring.Lock()
	defer requiring.Unlock()
	have, err := ReadFormat(dir)
	if err != nil || have.Number >= number {
		return err
	}
	text, err := json.Marshal(Format{number, version})
	if err != nil {
		return err
	}
	if err := durable.Replace(filepath.Join(dir, FormatFile), append(text, '\n')); err != nil {
		return fmt.Errorf("write the format of the data directory: %w", err)
	}
	return nil
}
