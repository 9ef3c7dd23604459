package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/sstable"
)

// Tables is the result of VerifyTables.
type Tables struct {
	Files   int
	Bytes   int64
	Damaged []error
}

// Logs returns the result of Verify when the store was opened.
func (s *Store) Logs() Logs { return s.logs }

// VerifyTables reads all blocks of all tables and compares them with their checksums. For a damaged table, it reports
// the first bad block. It calls read after each table; an error of read ends it.
func (s *Store) VerifyTables(read func(bytes int64) error) (Tables, error) {
	var t Tables
	levels, err := s.db.SSTables()
	if err != nil {
		return t, fmt.Errorf("verify tables: %w", err)
	}
	for _, level := range levels {
		for _, table := range level {
			file := s.fs.PathJoin(s.dir, fmt.Sprintf("%06d.sst", uint64(table.BackingSSTNum)))
			if err := s.verifyTable(file); err != nil {
				t.Damaged = append(t.Damaged, fmt.Errorf("%s is damaged: %w", file, err))
			}
			t.Files++
			t.Bytes += int64(table.Size)
			if err := read(int64(table.Size)); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

func (s *Store) verifyTable(file string) error {
	f, err := s.fs.Open(file)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(context.Background(), readable, s.readers)
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	return errors.Join(r.ValidateBlockChecksums(), r.Close())
}
