package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// Damage is a position in a file whose stored data has changed or is missing. It is an error for which IsCorruption is
// true.
type Damage struct {
	File   string
	Offset int64
	What   string
}

func (d *Damage) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %s", d.File, d.Offset, d.What)
}

// Unwrap makes it one of Pebble's errors of that kind.
func (d *Damage) Unwrap() error { return pebble.ErrCorruption }

// Logs describes the logs that Verify has read.
type Logs struct {
	Files   int
	Commits int
	Bytes   int64

	manifest string // the file
	end      int64  // of its valid part
}

// Verify reads the logs that Pebble would replay, and its MANIFEST, and looks
// for damage that Pebble would take for the end of the data. A missing store
// has no damage. Verify changes nothing.
//
// A write that was cut short looks like damage but is not: no caller got a success for it. The bytes behind it
// distinguish the two. A commit begins only when the previous one is durable. So if another commit begins behind an
// unreadable position, the data there was readable once. The same holds for the edits of the MANIFEST, and for every
// log except the last: it was closed before the next log was begun.
//
// The last edit of the MANIFEST has nothing behind it. If it is damaged, the
// files that it made obsolete are missing: Pebble itself detects missing
// tables, and Verify the missing log.
func Verify(fs vfs.FS, dir string) (Logs, error) {
	var l Logs
	if _, err := fs.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	about, err := pebble.Peek(dir, fs)
	if err != nil {
		return l, fmt.Errorf("verify: %w", err)
	}
	if !about.Exists {
		return l, nil
	}
	oldest, err := l.verifyManifest(fs, about.ManifestFilename)
	if err != nil {
		return l, err
	}
	logs, err := wal.Scan(wal.Dir{FS: fs, Dirname: dir})
	if err != nil {
		return l, fmt.Errorf("verify: %w", err)
	}
	for len(logs) > 0 && uint64(logs[0].Num) < oldest {
		logs = logs[1:]
	}
	next := uint64(0)
	inFirst := 0
	for i, log := range logs {
		_, file := log.SegmentLocation(0)
		if next, err = l.verifyLog(fs, file, uint32(log.Num), i == len(logs)-1, next); err != nil {
			return l, err
		}
		if i == 0 {
			inFirst = l.Commits
		}
	}
	return l, l.verifyFirstLog(about, oldest, logs, inFirst)
}

// verifyManifest returns the number of the oldest log that is still needed.
func (l *Logs) verifyManifest(fs vfs.FS, file string) (oldest uint64, err error) {
	s := scanner{record: func(head []byte) {
		if n := logNumber(head); n != 0 {
			oldest = n
		}
	}}
	e, err := l.scan(fs, file, &s)
	if err != nil {
		return 0, err
	}
	// It is written up to this point before a marker makes it current. The very first MANIFEST then has no edit.
	least := 2
	if strings.HasSuffix(file, "MANIFEST-000001") {
		least = 1
	}
	l.manifest, l.end = file, e.bad
	if e.bad < 0 {
		l.end = s.read
	}
	switch {
	case e.records < least:
		return 0, &Damage{file, l.end, "the state of the store and the first edit cannot be read"}
	case e.vouched:
		return 0, &Damage{file, e.bad, "an edit that a later one follows cannot be read"}
	}
	return oldest, nil
}

// verifyLog returns the sequence number that comes after the log's.
func (l *Logs) verifyLog(fs vfs.FS, file string, number uint32, last bool, next uint64) (uint64, error) {
	s := scanner{isLog: true, number: number, next: next}
	e, err := l.scan(fs, file, &s)
	if err != nil {
		return 0, err
	}
	l.Commits += e.records
	switch {
	case e.vouched:
		return 0, &Damage{file, e.bad, "a durable commit cannot be read"}
	case !last && e.bad >= 0:
		return 0, &Damage{file, e.bad, "the log was closed in good order and cannot be read to its end"}
	case !last && !e.closed:
		return 0, &Damage{file, s.read, "the log was closed in good order and its end is missing"}
	}
	return s.next, nil
}

func (l *Logs) scan(fs vfs.FS, file string, s *scanner) (ending, error) {
	f, err := fs.Open(file, vfs.SequentialReadsOption)
	if err != nil {
		return ending{}, fmt.Errorf("verify: %w", err)
	}
	s.file = f
	e, err := s.scan()
	l.Files++
	l.Bytes += s.read
	if err := errors.Join(err, f.Close()); err != nil {
		return e, fmt.Errorf("verify %s: %w", file, err)
	}
	return e, nil
}

// verifyFirstLog checks that the oldest needed log exists. commits is the number of commits in the oldest existing log.
//
// Its number is the one in the MANIFEST, unless nothing was flushed since the
// store was opened: then the MANIFEST has a number that was never used. Opening
// a store takes that number, another for the log, and another for the file of
// options, in this order, and only then does the store take commits. So a first
// log with a higher number than the options has had one before it, or the store
// was not opened to the end, and then the log is empty.
func (l *Logs) verifyFirstLog(about *pebble.DBDesc, oldest uint64, logs wal.Logs, commits int) error {
	var options uint64
	name := about.OptionsFilename[max(0, strings.LastIndex(about.OptionsFilename, "OPTIONS-")):]
	if _, err := fmt.Sscanf(name, "OPTIONS-%d", &options); err != nil {
		options = 0 // it was never opened to the end
	}
	switch {
	case len(logs) == 0 && oldest >= options:
		return nil
	case len(logs) == 0:
	case uint64(logs[0].Num) == oldest, uint64(logs[0].Num) < options:
		return nil
	case oldest >= options && commits == 0:
		return nil
	}
	return &Damage{l.manifest, l.end, fmt.Sprintf(
		"the log %06d, which it needs, is missing, or the edit that no longer needs the log is", oldest)}
}

// Tags of the fields with which an edit of the MANIFEST may begin. All but the
// first are numbers.
const (
	editComparer     = 1
	editLogNumber    = 2
	editNextFile     = 3
	editLastSequence = 4
	editPreviousLog  = 9
)

// logNumber reads an edit's number of the oldest log that is still needed, or 0 if it does not set it.
func logNumber(edit []byte) uint64 {
	number := func() uint64 {
		n, size := binary.Uvarint(edit)
		edit = edit[max(0, size):]
		return n
	}
	for {
		switch number() {
		case editComparer:
			length := number()
			edit = edit[min(length, uint64(len(edit))):]
		case editLogNumber:
			return number()
		case editNextFile, editLastSequence, editPreviousLog:
			number()
		default:
			return 0
		}
	}
}

// tableLost reports Damage if Pebble could not open a store because a table is missing or has a wrong size. Pebble has
// no kind of error for that.
func (l *Logs) tableLost(err error) error {
	text := err.Error()
	if !strings.Contains(text, "object size mismatch") &&
		!strings.Contains(text, "unknown to the objstorage provider") {
		return err
	}
	lost := &Damage{l.manifest, l.end, "a table that it needs is missing or cut short, or an edit is that no longer needs it"}
	return fmt.Errorf("%w: %w", lost, err)
}
