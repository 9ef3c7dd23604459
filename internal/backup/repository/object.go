package repository

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/s2"

	"github.com/sluicemq/sluice/internal/backup"
)

const (
	// packedSuffix ends the name of a compressed object.
	packedSuffix = ".s2"
	// minPacked is the minimum size of a file that is worth compressing, in bytes.
	minPacked = 4 << 10
	// packedBlock is how much is compressed at a time, in bytes.
	packedBlock = 256 << 10
)

// packedName returns the name of a compressed object: the digest of the content, and the size of the object. So a list
// of objects shows which of them were cut short.
func packedName(digest string, size int64) string {
	return digest + "." + strconv.FormatInt(size, 10) + packedSuffix
}

// parsePacked returns the digest of the content and the size in the name of a compressed object.
func parsePacked(name string) (digest string, size int64, ok bool) {
	digest, rest, _ := strings.Cut(name, ".")
	size, err := strconv.ParseInt(strings.TrimSuffix(rest, packedSuffix), 10, 64)
	return digest, size, err == nil && size > 0 && isDigest(digest) && packedName(digest, size) == name
}

func isObject(name string) bool {
	_, _, packed := parsePacked(name)
	return packed || isDigest(name)
}

// object returns the name of the object with the contents of a file.
func (f *File) object() string {
	if f.Packed == 0 {
		return f.SHA256
	}
	return packedName(f.SHA256, f.Packed)
}

// isIn reports whether the object is in a list of objects with their sizes, as a whole.
func (f *File) isIn(objects map[string]int64) bool {
	size, there := objects[f.object()]
	return there && size == cmp.Or(f.Packed, f.Size)
}

// measure is what a file is stored as: under its digest or, where that saves at least a sixteenth, compressed.
type measure struct {
	digest    string
	packed    int64 // size of the compressed object; 0: the file does not compress
	packedSum [sha256.Size]byte
}

// measureFile reads a file once.
func measureFile(from io.Reader, size int64) (m measure, err error) {
	plain, packed := sha256.New(), &counter{to: sha256.New()}
	read := io.TeeReader(from, plain)
	if size < minPacked {
		_, err = io.Copy(io.Discard, read)
	} else {
		err = pack(packed, read)
	}
	m.digest = hex.EncodeToString(plain.Sum(nil))
	if packed.n > 0 && packed.n <= size-size/16 {
		m.packed, m.packedSum = packed.n, [sha256.Size]byte(packed.to.Sum(nil))
	}
	return m, err
}

// counter counts what is written to a hash.
type counter struct {
	to hash.Hash
	n  int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return c.to.Write(b)
}

// pack compresses what it reads. The same content always becomes the same bytes: they are made once to be measured, and
// again to be sent, so that no disk or memory has to hold them.
func pack(to io.Writer, from io.Reader) error {
	w := s2.NewWriter(to, s2.WriterConcurrency(1), s2.WriterBlockSize(packedBlock))
	_, err := w.ReadFrom(from)
	return errors.Join(err, w.Close())
}

// packing is a file that is compressed while it is read.
type packing struct {
	*io.PipeReader
	ended chan error // what closing the file has returned
}

func newPacking(file io.ReadCloser) io.ReadCloser {
	r, w := io.Pipe()
	p := &packing{r, make(chan error, 1)}
	go func() {
		w.CloseWithError(pack(w, file))
		p.ended <- file.Close()
	}()
	return p
}

// Close returns when nothing uses the file anymore.
func (p *packing) Close() error { return errors.Join(p.PipeReader.Close(), <-p.ended) }

// unpacking is what a compressed object decompresses to. An error of the object store stays one, any other says that
// the object is damaged.
type unpacking struct {
	io.Closer
	from *source
	s2   *s2.Reader
}

func newUnpacking(object io.ReadCloser) io.ReadCloser {
	from := &source{from: object}
	return &unpacking{object, from, s2.NewReader(from, s2.ReaderMaxBlockSize(packedBlock))}
}

func (u *unpacking) Read(b []byte) (int, error) {
	n, err := u.s2.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // an io.Reader returns it as it is
		if err = u.from.err; err == nil {
			err = fmt.Errorf("%w: it cannot be decompressed", backup.ErrNoBackup)
		}
	}
	return n, err
}

// source remembers the error of a reader that is not its end.
type source struct {
	from io.Reader
	err  error
}

func (f *source) Read(b []byte) (int, error) {
	n, err := f.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}
