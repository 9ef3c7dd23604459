package store

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// FuzzScan feeds damaged files to the scanner. Up to the point that the scanner calls valid, Pebble reads the same
// records.
func FuzzScan(f *testing.F) {
	const number = 2
	fs := vfs.NewMem()
	s, err := Open("db", Options{FS: fs})
	if err != nil {
		f.Fatal(err)
	}
	for i := range 6 {
		tx := s.Begin()
		tx.Set([]byte{byte(i)}, bytes.Repeat([]byte("v"), i*i*1000))
		if err := s.Commit(tx); err != nil {
			f.Fatal(err)
		}
		tx.Release()
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	about, err := pebble.Peek("db", fs)
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"db/000002.log", about.ManifestFilename} {
		file, err := fs.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		text, err := io.ReadAll(file)
		if err != nil {
			f.Fatal(err)
		}
		isLog := strings.HasSuffix(name, ".log")
		for _, at := range []int{0, 10, 40, len(text) / 2, len(text) - 5} {
			f.Add(text, isLog, uint32(at), byte(0x10))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, isLog bool, at uint32, flip byte) {
		text = bytes.Clone(text)
		if len(text) > 0 {
			text[int(at)%len(text)] ^= flip
		}
		var heads [][]byte
		s := scanner{file: bytes.NewReader(text), isLog: isLog, number: number, record: func(head []byte) {
			heads = append(heads, bytes.Clone(head))
		}}
		e, err := s.scan()
		if err != nil || len(heads) != e.records || e.bad > int64(len(text)) || e.vouched && e.bad < 0 ||
			e.closed && e.bad >= 0 {
			t.Fatalf("%+v, %d heads, %v", e, len(heads), err)
		}
		for _, head := range heads {
			logNumber(head)
		}
		r := record.NewReader(bytes.NewReader(text), 0)
		if isLog {
			r = record.NewReader(bytes.NewReader(text), number)
		}
		for i, head := range heads {
			in, err := r.Next()
			if err != nil {
				t.Fatalf("Pebble does not read record %d of %d: %v", i, len(heads), err)
			}
			got, err := io.ReadAll(in)
			if err != nil || !bytes.HasPrefix(got, head) {
				t.Fatalf("record %d begins with %x, Pebble reads %x, %v", i, head, got, err)
			}
		}
	})
}
