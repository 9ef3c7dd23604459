package repository

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
)

// ErrTaken reports that a repository belongs to another data directory, or that another server has written to it.
var ErrTaken = errors.New("the place for backups is in use by another server")

// Options configures a Writer.
type Options struct {
	Place bucket.Place
	ID    string        // of the data directory: no other has it
	Host  string        // of the server, for people
	Keep  time.Duration // how long moments are kept
	// Pace waits until this many bytes may be read or sent, at most 32 KiB at a time. Nil does not wait.
	Pace func(ctx context.Context, bytes int) error
	// Room returns an error if the upload must be given up, such as when the snapshot takes too much space. Nil means
	// that nothing prevents it.
	Room func() error
	// Missing is called when objects that moments name are not there as a whole: something other than a writer has
	// removed them, such as a rule of the bucket. The objects of the new moment were stored again, the lost ones cannot
	// be. It may be nil.
	Missing func(again, lost int)
	// Shared means that several servers write with the same ID, as the nodes of a cluster do, one after the other.
	// Without it, a server that finds moments of another one stops writing.
	Shared bool
}

// Writer writes moments. It is for one goroutine.
type Writer struct {
	Options
	repository *Repository
	claimed    bool                    // Prepare has succeeded since the last Write
	ready      bool                    // the following fields are known
	next       int64                   // number of the next moment
	moments    []kept                  // that can be read
	stored     map[string]int64        // the objects by their names, with their sizes
	packed     map[string]int64        // the sizes of whole compressed objects by the digests of their contents
	doomed     doomed                  // objects that another writer may be removing
	removal    removal                 // objects to remove
	measures   map[fingerprint]measure // of the tables of the previous moment
	swept      time.Time
	overtaken  error // another writer has taken a number; nil: none has
}

// fingerprint distinguishes a file from others without reading it. Tables never change once they are written.
type fingerprint struct {
	name     string
	size     int64
	modified time.Time
}

// owner names the writer of a repository.
type owner struct {
	ID    string
	Host  string
	Since time.Time
}

// NewWriter returns a Writer. It does not contact the object store yet.
func NewWriter(o Options) *Writer {
	if o.Pace == nil {
		o.Pace = func(ctx context.Context, _ int) error { return ctx.Err() }
	}
	if o.Room == nil {
		o.Room = func() error { return nil }
	}
	if o.Missing == nil {
		o.Missing = func(int, int) {}
	}
	return &Writer{Options: o, repository: New(o.Place)}
}

// Write stores the files below dir as the next moment. Nothing must change them meanwhile. Even after an error the
// moment may exist, and is then complete. Objects that were stored before an error are not stored again by the next
// call. Once another writer has written the moment that this one was about to write, each call returns ErrTaken.
func (w *Writer) Write(ctx context.Context, dir string, about backup.About) (*Moment, error) {
	if w.overtaken != nil {
		return nil, fmt.Errorf("write a moment: %w", w.overtaken)
	}
	m, err := w.write(ctx, dir, about)
	if err != nil {
		w.ready = false // ask for the state again
		return nil, fmt.Errorf("write a moment: %w", err)
	}
	return m, nil
}

func (w *Writer) write(ctx context.Context, dir string, about backup.About) (*Moment, error) {
	if !w.claimed {
		if err := w.Prepare(ctx, about.Created); err != nil {
			return nil, err
		}
	}
	w.claimed = false
	about.Format = format
	m := &Moment{About: about, Number: w.next}
	if err := w.storeAll(ctx, dir, m); err != nil {
		return nil, err
	}
	next, err := w.sweep(ctx, dir, m)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(m.Files, func(f File) bool { return f.Packed != 0 }) &&
		m.Data.Number < formats.PackedBackups {
		m.Data = datadir.Format{Number: formats.PackedBackups, Version: m.Version}
	}
	if err := w.create(ctx, m); err != nil {
		return nil, err
	}
	if !next.isNone() {
		w.removal = next
	}
	w.next++
	w.moments = append(w.moments, kept{m.Number, m.Created})
	return m, nil
}

// Prepare checks that this writer may write, and reads the contents of the repository if they are not known. Write does
// so if it was not done before: a caller of Prepare learns whether the object store answers before it makes a snapshot.
func (w *Writer) Prepare(ctx context.Context, now time.Time) error {
	w.claimed = false
	if w.overtaken != nil {
		return w.overtaken
	}
	if err := w.claim(ctx, now); err != nil {
		return err
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	w.claimed = true
	return nil
}

// Latest returns the time of the last moment that is known and can be read, or zero. It is the one with the highest
// number: the clock may have been ahead at an earlier one.
func (w *Writer) Latest() time.Time {
	var last kept
	for _, m := range w.moments {
		if m.number > last.number {
			last = m
		}
	}
	return last.at
}

// claim checks that the repository belongs to this data directory. It asks each time, so that even with a service that
// does not support conditions the owner notices when another one has taken its place.
func (w *Writer) claim(ctx context.Context, now time.Time) error {
	text, err := w.repository.read(ctx, ownerKey)
	if errors.Is(err, bucket.ErrNoObject) {
		if text, err = json.Marshal(owner{w.ID, w.Host, now.UTC()}); err != nil {
			return err
		}
		creating, cancel := within(ctx, 0)
		defer cancel()
		if err = w.Place.Create(creating, ownerKey, append(text, '\n')); err != nil &&
			!errors.Is(err, bucket.ErrExists) {
			return err
		}
		text, err = w.repository.read(ctx, ownerKey)
	}
	if err != nil {
		return fmt.Errorf("read the owner: %w", err)
	}
	var is owner
	if err := json.Unmarshal(text, &is); err != nil {
		return fmt.Errorf("%s cannot be understood: %w", ownerKey, err)
	}
	if is.ID != w.ID {
		return fmt.Errorf(
			"%w: it belongs to another data directory, of the machine %q, since %s; name another place, a restored directory needs one as well",
			ErrTaken, is.Host, is.Since.Format(time.RFC3339),
		)
	}
	return nil
}

// prepare reads the contents of the repository.
func (w *Writer) prepare(ctx context.Context) error {
	if w.ready {
		return nil
	}
	if err := w.Place.Clean(ctx); err != nil {
		return fmt.Errorf("clean the place: %w", err)
	}
	numbers, err := w.repository.numbers(ctx)
	if err != nil {
		return err
	}
	w.next, w.moments = 1, nil
	if len(numbers) > 0 {
		w.next = numbers[len(numbers)-1] + 1
	}
	listed := make(map[string]int64) // the last moments that list objects for removal
	err = w.repository.Moments(ctx, func(m *Moment) {
		w.moments = append(w.moments, kept{m.Number, m.Created})
		for _, name := range m.removing() {
			listed[name] = max(listed[name], m.Number)
		}
	})
	if err != nil && !errors.Is(err, ErrDamaged) { // a damaged one is kept, and Tidy reports it
		return err
	}
	if w.stored, err = w.objects(ctx); err != nil {
		return err
	}
	w.doomed = w.doomed.renew(listed, w.stored)
	w.packed = wholePacked(w.stored)
	w.removal = removal{}
	w.ready = true
	return nil
}

// objects lists what is stored, with its sizes.
func (w *Writer) objects(ctx context.Context) (map[string]int64, error) {
	ctx, cancel := within(ctx, longList)
	defer cancel()
	list, err := w.Place.List(ctx, objectsPrefix)
	out := make(map[string]int64, len(list))
	for _, o := range list {
		if name, ok := objectName(o.Key); ok {
			out[name] = o.Size
		}
	}
	return out, err
}

// wholePacked returns the sizes of the compressed objects that were not cut short, by the digests of their contents.
func wholePacked(stored map[string]int64) map[string]int64 {
	out := make(map[string]int64)
	for name, size := range stored {
		if digest, want, ok := parsePacked(name); ok && size == want {
			out[digest] = size
		}
	}
	return out
}

// storeAll stores the files below dir, and adds them to the moment.
func (w *Writer) storeAll(ctx context.Context, dir string, m *Moment) error {
	measures := make(map[fingerprint]measure)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if err := w.Room(); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f, err := w.store(ctx, path, filepath.ToSlash(name), measures)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m.Files = append(m.Files, f)
		return nil
	})
	if err == nil && len(m.Files) == 0 {
		err = errors.New("there are no files")
	}
	// The next attempt can use what a failed attempt has learned.
	for print, m := range w.measures {
		if err != nil {
			measures[print] = m
		}
	}
	w.measures = measures
	return err
}

// store stores the contents of a file, unless they are stored already.
func (w *Writer) store(ctx context.Context, path, name string, measures map[fingerprint]measure) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	print := fingerprint{name, info.Size(), info.ModTime()}
	is, known := w.measures[print]
	if !known {
		if is, err = w.measure(ctx, path, info.Size()); err != nil {
			return File{}, err
		}
	}
	if isTable(name) {
		measures[print] = is
	}
	f := File{name, info.Size(), is.digest, w.form(&is, info.Size())}
	object := f.object()
	if err := w.doomed.check(object); err != nil {
		return f, err
	}
	w.removal.spare(object)
	if f.isIn(w.stored) {
		return f, nil
	}
	return f, w.upload(ctx, path, &f, &is)
}

// form returns the size of the compressed object that a file is stored as, or 0 for one that is not compressed. An
// object that is stored already decides the form.
func (w *Writer) form(is *measure, size int64) int64 {
	if stored, there := w.stored[is.digest]; there && stored == size {
		return 0
	}
	if packed, there := w.packed[is.digest]; there {
		return packed
	}
	return is.packed
}

// isTable reports whether a file never changes once it is written.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

func (w *Writer) measure(ctx context.Context, path string, size int64) (m measure, err error) {
	f, err := w.open(ctx, path)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return measureFile(f, size)
}

func (w *Writer) upload(ctx context.Context, path string, f *File, is *measure) error {
	c := &bucket.Content{Size: f.Size, Open: func() (io.ReadCloser, error) { return w.open(ctx, path) }}
	if _, err := hex.Decode(c.SHA256[:], []byte(f.SHA256)); err != nil {
		return err
	}
	if f.Packed != 0 {
		c = &bucket.Content{Size: is.packed, SHA256: is.packedSum, Open: func() (io.ReadCloser, error) {
			file, err := w.open(ctx, path)
			if err != nil {
				return nil, err
			}
			return newPacking(file), nil
		}}
	}
	within, cancel := within(ctx, f.Size)
	defer cancel()
	if err := w.Place.Put(within, objectKey(f.object()), c); err != nil {
		return err
	}
	w.stored[f.object()] = c.Size
	if f.Packed != 0 {
		w.packed[f.SHA256] = f.Packed
	}
	return nil
}

func (w *Writer) open(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &pacedFile{ctx, f, w.Pace}, nil
}

// pacedFile is a file that is read at a limited pace. It hides the file's other methods.
type pacedFile struct {
	ctx  context.Context
	file *os.File
	pace func(ctx context.Context, bytes int) error
}

// pacedRead is how much is read at a time, in bytes.
const pacedRead = 32 << 10

func (f *pacedFile) Read(b []byte) (int, error) {
	b = b[:min(len(b), pacedRead)]
	if err := f.pace(f.ctx, len(b)); err != nil {
		return 0, err
	}
	return f.file.Read(b)
}

func (f *pacedFile) Close() error { return f.file.Close() }

// create stores the moment itself, when all of its objects are there.
func (w *Writer) create(ctx context.Context, m *Moment) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	if len(text) > maxMeta {
		return fmt.Errorf("it has too many files: %d", len(m.Files))
	}
	// The number may have been used, and removed since, while this writer waited for hours.
	numbers, err := w.repository.numbers(ctx)
	if err != nil {
		return err
	}
	if len(numbers) > 0 && numbers[len(numbers)-1] > m.Number {
		return w.overtake(m)
	}
	creating, cancel := within(ctx, int64(len(text)))
	defer cancel()
	err = w.Place.Create(creating, momentKey(m.Number), text)
	if !errors.Is(err, bucket.ErrExists) {
		return err
	}
	// The existing moment may be ours: the first answer was lost, and the request was sent again.
	there, err := w.repository.read(ctx, momentKey(m.Number))
	if err == nil && !bytes.Equal(there, text) {
		err = w.overtake(m)
	}
	return err
}

// overtake returns the error for a moment whose number another writer has used.
func (w *Writer) overtake(m *Moment) error {
	if w.Shared {
		return fmt.Errorf("%w: another node of the cluster has written moment %d", ErrTaken, m.Number)
	}
	w.overtaken = fmt.Errorf("%w: a copy of this data directory has written moment %d", ErrTaken, m.Number)
	return w.overtaken
}

// A request that is slower than this fails, so that a service that does not answer is detected.
const (
	patience     = time.Minute
	slowestBytes = 64 << 10 // a second
	longList     = 64 << 20 // bytes that a list may have
)

// within limits the time of a request that sends this many bytes.
func within(ctx context.Context, bytes int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience+time.Duration(bytes/slowestBytes)*time.Second)
}

// Moments returns the number of readable moments, as far as known.
func (w *Writer) Moments() int { return len(w.moments) }

// forget records that moments were removed.
func (w *Writer) forget(numbers []int64) {
	w.moments = slices.DeleteFunc(w.moments, func(k kept) bool { return slices.Contains(numbers, k.number) })
}
