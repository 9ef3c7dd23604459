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
)

// The format of a data directory is a number that grows when a program writes
// something that older programs would misread. A directory has the lowest one
// that is enough: the program that first uses such a feature writes down, before
// it does, what the directory needs from then on. A directory without the file
// has format 1.
//
//	1  the first
//	2  message move tasks that say which queues they may fill
//	3  topics, and copies of their messages on their way to their queues
//	4  queues that count what happens to them, and their series
//	5  alarms, dashboards and metrics that programs send
//	6  trails
//	7  sessions of the console, passwords and second factors
//	8  message move tasks that select and edit messages
//	9  topics that count what happens to them
//	10 unused queues, which are to be deleted
//	11 the names of queues beside what was counted of them
//	12 the ids of deleted queues
//	13 none: programs that read it read receipt handles in standard base64
//	14 limits of accounts and users
//	15 composite alarms
const newest = FormatComposites

// FormatTopics is the format of a directory in which topics are, or were.
const FormatTopics = 3

// FormatSeries is the format of a directory in which something was counted of queues.
const FormatSeries = 4

// FormatMonitor is the format of a directory in which alarms, dashboards or custom metrics are, or were.
const FormatMonitor = 5

// FormatTrails is the format of a directory in which trails are, or were.
const FormatTrails = 6

// FormatSignIn is the format of a directory in which sessions of the console, passwords or second factors are, or were.
const FormatSignIn = 7

// FormatSelections is the format of a directory in which a message move task has selected messages.
const FormatSelections = 8

// FormatTopicSeries is the format of a directory in which something was counted of topics.
const FormatTopicSeries = 9

// FormatIdle is the format of a directory that records which queues are unused.
const FormatIdle = 10

// FormatNames is the format of a directory in which the names of queues stand beside what was counted of them.
const FormatNames = 11

// FormatTombstones is the format of a directory in which the ids of deleted queues are.
const FormatTombstones = 12

// FormatHandles is what programs read that know receipt handles in standard base64. No directory needs it.
const FormatHandles = 13

// FormatTenants is the format of a directory in which limits of accounts or users are, or were.
const FormatTenants = 14

// FormatComposites is the format of a directory in which composite alarms are, or were.
const FormatComposites = 15

// Newest is the highest format that this program reads.
func Newest() int { return newest }

// Format is what a data directory needs of a program that opens it.
type Format struct {
	Number  int    `json:"format"`
	Version string `json:"version,omitempty"` // of the program that first needed it
}

// ErrTooNew says that a data directory, or a backup of one, needs a newer program.
var ErrTooNew = errors.New("it needs a newer program")

// Check refuses a format that this program does not read. It names what has the
// format as in "the data directory /var/lib/sluice".
func (f Format) Check(what string) error {
	if f.Number <= newest {
		return nil
	}
	version := f.Version
	if version == "" {
		version = "of a later version"
	}
	return fmt.Errorf("%s was written by Sluice %s, format %d; this program reads formats up to %d: %w",
		what, version, f.Number, newest, ErrTooNew)
}

// maxFormatFile is more than such a file has.
const maxFormatFile = 4 << 10

// ReadFormat returns the format of the directory dir, or ErrTooNew.
func ReadFormat(dir string) (Format, error) {
	path := filepath.Join(dir, FormatFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Format{Number: 1}, nil
	} else if err != nil {
		return Format{}, fmt.Errorf("read the format of the data directory: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFormatFile))
	if err := errors.Join(err, f.Close()); err != nil {
		return Format{}, fmt.Errorf("read the format of the data directory: %w", err)
	}
	got, err := parseFormat(text)
	if err != nil {
		return Format{}, fmt.Errorf("%s does not say which format the data directory has: %w", path, err)
	}
	return got, got.Check("the data directory " + dir)
}

func parseFormat(text []byte) (f Format, err error) {
	if err := json.Unmarshal(text, &f); err != nil {
		return f, err
	}
	if f.Number < 1 {
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
	if err := replaceFile(filepath.Join(dir, FormatFile), append(text, '\n')); err != nil {
		return fmt.Errorf("write the format of the data directory: %w", err)
	}
	return nil
}

// replaceFile makes the file at path whole or leaves the one that was there.
func replaceFile(path string, text []byte) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}
