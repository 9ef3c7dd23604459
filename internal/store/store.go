package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configures a store.
type Options struct {
	// Disk holds the store; nil means a new disk with the file system FS.
	Disk *Disk
	// FS is for a store without Disk; nil means the machine's file system.
	FS vfs.FS
	// Cache is shared by the stores of one process; nil gives this store one
	// of DefaultCacheSize of its own.
	Cache *Cache
	// Logger receives the errors of Pebble. Nil discards them.
	Logger *slog.Logger
	// External states that the log is elsewhere: the store has no log of its own, is changed with Apply and CommitAt
	// only, and records how much of that log it has applied. A store may be opened in either way each time.
	External bool
}

// DefaultCacheSize is the size of a cache in bytes: 64 MiB for blocks, plus the memtables of one busy store, because
// Pebble takes their memory from the cache. A queue reads data written a moment ago, from the memtable, or data not
// touched for long; a larger cache would only use memory.
const DefaultCacheSize = 64<<20 + memTableStop*memTableSize

// Sizes found by measurement on queue-shaped loads; see DESIGN.md.
const (
	memTableSize     = 16 << 20
	memTableStop     = 4
	l0Compaction     = 8
	l0Stop           = 24
	maxOpenFiles     = 1000
	bloomBitsPerKey  = 10
	compactionsAtOne = 1
	compactionsMost  = 2

	// A message that has waited for long is read once, together with its neighbours, so its block is useless once it
	// has been read. In a cache full of such blocks, Pebble searches all of them for one to replace. So blocks are
	// fewer and larger than Pebble's default of 4 KiB.
	tableBlockSize = 32 << 10

	// A checkpoint has a copy of the MANIFEST, and a continuous backup sends one each minute. Pebble's default is 128
	// MiB. If the description of the store itself is larger, Pebble uses that size.
	maxManifestSize = 1 << 20
)

// A Cache holds blocks read from disk, for any number of stores.
type Cache struct{ blocks *pebble.Cache }

// NewCache returns a cache of size bytes. Close it after its stores.
func NewCache(size int64) *Cache { return &Cache{blocks: pebble.NewCache(size)} }

// Close releases the cache's memory.
func (c *Cache) Close() { c.blocks.Unref() }

// A Store is one ordered key-value space. Its methods are safe for concurrent use; a transaction belongs to one
// goroutine.
type Store struct {
	committing sync.Mutex // held during a commit
	gate       *gate

	disk     *Disk
	db       *pebble.DB
	lock     *pebble.Lock
	write    *pebble.WriteOptions
	external bool
	mark     atomic.Pointer[Mark]
	durable  atomic.Pointer[Mark] // last result of Durable, or nil
	dir      string
	fs       vfs.FS
	logs     Logs
	// readers configures how Pebble reads tables.
	readers sstable.ReaderOptions
}

// ErrLocked reports that another process has the directory open.
var ErrLocked = errors.New("the data directory is in use by another process")

// Open opens the store in dir, creates it if it does not exist, and repairs a torn end of the write-ahead log. A
// directory in use by another process gives ErrLocked; damaged data gives an error for which IsCorruption is true; a
// disk that cannot be written gives a *BlockedError. Open verifies the logs before it changes anything; the blocks of
// tables are verified when they are read.
func Open(dir string, o Options) (*Store, error) {
	o.defaults()
	var s *Store
	err := o.Disk.Guard(func() error {
		opts, release := o.pebble()
		defer release()
		opts.FS = orderedFS{o.Disk.vfs()}
		err := makeDir(opts.FS, dir)
		if err != nil {
			return fmt.Errorf("open store: %w", err)
		}
		s, err = open(dir, opts, o.Disk)
		return err
	})
	if blocked, ok := errors.AsType[*BlockedError](err); ok {
		return nil, fmt.Errorf("open store %s: %w", dir, blocked)
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenReadOnly opens the store in dir without changing anything: the write-ahead log is read into memory, 64 MiB at
// most. A missing store gives an error that is os.ErrNotExist.
func OpenReadOnly(dir string, o Options) (*Store, error) {
	o.defaults()
	opts, release := o.pebble()
	defer release()
	opts.FS = frozenFS{o.Disk.fs}
	opts.ReadOnly = true
	if about, err := pebble.Peek(dir, opts.FS); err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	} else if !about.Exists {
		return nil, fmt.Errorf("open store %s: %w", dir, os.ErrNotExist)
	}
	return open(dir, opts, o.Disk)
}

// open opens an existing directory.
func open(dir string, opts *pebble.Options, disk *Disk) (*Store, error) {
	lock, err := pebble.LockDirectory(dir, opts.FS)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, lockError(err))
	}
	opts.Lock = lock
	logs, err := Verify(opts.FS, dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", dir, err), lock.Close())
	}
	db, err := pebble.Open(dir, opts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", dir, logs.tableLost(err)), lock.Close())
	}
	s := &Store{
		gate: newGate(), disk: disk, db: db, lock: lock, write: pebble.Sync, external: opts.DisableWAL, dir: dir,
		fs: opts.FS, logs: logs,
	}
	if disk.volatile {
		s.write = pebble.NoSync
	}
	opts = opts.Clone()
	opts.EnsureDefaults()
	s.readers = opts.MakeReaderOptions()
	if err := s.loadMark(opts.ReadOnly); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", dir, err), db.Close(), lock.Close())
	}
	return s, nil
}

// lockError returns ErrLocked unless the operating system reports a reason other than a holder of the lock.
func lockError(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok && errno != syscall.EAGAIN {
		return fmt.Errorf("lock it: %w", err)
	}
	return ErrLocked
}

func (o *Options) defaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Disk == nil {
		o.Disk = NewDisk(o.FS, o.Logger)
	}
}

// pebble returns Pebble's options except the file system, and a function to call when the store is open.
func (o *Options) pebble() (opts *pebble.Options, release func()) {
	opts = &pebble.Options{
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                memTableSize,
		MemTableStopWritesThreshold: memTableStop,
		L0CompactionThreshold:       l0Compaction,
		L0StopWritesThreshold:       l0Stop,
		MaxOpenFiles:                maxOpenFiles,
		MaxManifestFileSize:         maxManifestSize,
		CompactionConcurrencyRange:  func() (int, int) { return compactionsAtOne, compactionsMost },
		Logger:                      &pebbleLogger{log: o.Logger, disk: o.Disk},
		EventListener:               listener(o.Logger),
		DisableWAL:                  o.External,
	}
	release = func() {}
	if o.Cache != nil {
		opts.Cache = o.Cache.blocks
	} else {
		cache := NewCache(DefaultCacheSize)
		release = cache.Close // the DB keeps its own reference
		opts.Cache = cache.blocks
	}
	opts.Experimental.SpanPolicyFunc = part
	opts.Experimental.CompactionScheduler = &compactions{}
	opts.ApplyCompressionSettings(compression)
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
		opts.Levels[i].BlockSize = tableBlockSize
	}
	return opts, release
}

// Keys in different parts are in different tables. The second part, whose keys begin with a set bit, is for data that
// is written in order and not touched until it is removed: among the other tables, each of their compactions would
// rewrite it. The third part is for the mark, which is written again and again.
var parts = [][]byte{{0x80}, {0xff}}

// part returns the first key behind the part of a key.
func part(key []byte) (pebble.SpanPolicy, []byte, error) {
	for _, end := range parts {
		if bytes.Compare(key, end) < 0 {
			return pebble.SpanPolicy{}, end, nil
		}
	}
	return pebble.SpanPolicy{}, nil, nil
}

// compression leaves level 0 uncompressed: most of its data is soon merged into another level, or dropped.
func compression() pebble.DBCompressionSettings {
	settings := pebble.DBCompressionFastest
	settings.Levels[0] = block.NoCompression
	return settings
}

// makeDir makes dir, if it does not exist, so that it outlives a loss of power: a directory is an entry in its parent,
// which must be synced, too. A process that died before syncing may have made the parents. So makeDir syncs every
// parent that can be opened and synced (EINVAL: this kind of file system cannot).
func makeDir(fs vfs.FS, dir string) error {
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for above := fs.PathDir(dir); ; above = fs.PathDir(above) {
		err := syncDir(fs, above)
		if err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, syscall.EINVAL) {
			return err
		}
		if fs.PathDir(above) == above {
			return nil
		}
	}
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// OpenMemory opens an empty store in memory, which is lost when the process ends.
func OpenMemory(o Options) (*Store, error) {
	o.Disk = NewMemoryDisk(o.Logger)
	return Open("store", o)
}

// Close waits for the work in progress and closes the store; it first flushes one with an external log. Later reads
// return ErrClosed. If the disk is blocked, Close does not wait and gives the disk up: the store is left as after a
// crash, and its directory stays locked until the process ends.
func (s *Store) Close() error {
	err := s.disk.Guard(func() error {
		var err error
		if s.external {
			err = s.Flush()
		}
		s.gate.shut()
		return errors.Join(err, s.db.Close(), s.lock.Close())
	})
	if err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// Begin starts an empty transaction. Release it when it is no longer needed, committed or not.
func (s *Store) Begin() *Txn { return &Txn{db: s.db, batch: s.db.NewBatch()} }

// Disk returns the disk that the store is on.
func (s *Store) Disk() *Disk { return s.disk }

// Reclaim starts to free the space of deleted data, which otherwise waits until enough was written to move the
// deletions from memory to a table. It also removes one log that is kept for reuse with each call. It is cheap.
func (s *Store) Reclaim() error {
	if _, err := s.db.AsyncFlush(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Commit makes the changes of t durable and visible. While the disk is blocked it does not return. If the disk is given
// up, it never returns, so no caller takes a lost change for durable. After an error it is unknown whether the changes
// are durable: reopen the store to find out.
//
// Commits are made one after the other: Verify needs that to distinguish an interrupted write from damage. For the same
// reason a store must be closed only after the last commit has ended.
func (s *Store) Commit(t *Txn) error {
	if s.external {
		return ErrExternal
	}
	s.committing.Lock()
	defer s.committing.Unlock()
	if err := t.batch.Commit(s.write); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Get returns the committed value of key, or nil if there is none.
func (s *Store) Get(key []byte) ([]byte, error) {
	if !s.gate.enter() {
		return nil, ErrClosed
	}
	defer s.gate.leave()
	return copyOut(s.db.Get(key))
}

// Scan calls f with the committed keys from lo up to but not including hi, in
// order, until f returns false. The slices are valid during the call only.
func (s *Store) Scan(lo, hi []byte, f func(key, value []byte) bool) error {
	if !s.gate.enter() {
		return ErrClosed
	}
	defer s.gate.leave()
	return scan(s.db, lo, hi, f)
}

// IsCorruption reports whether err means that stored data is damaged.
func IsCorruption(err error) bool { return pebble.IsCorruptionError(err) }

func copyOut(value []byte, closer io.Closer, err error) ([]byte, error) {
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	out := make([]byte, len(value))
	copy(out, value)
	return out, closer.Close()
}

func scan(r pebble.Reader, lo, hi []byte, f func(key, value []byte) bool) error {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	return each(it, f)
}

// each calls f with the entries of an iterator, until f returns false, and closes it.
func each(it *pebble.Iterator, f func(key, value []byte) bool) error {
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(fmt.Errorf("scan: %w", err), it.Close())
		}
		if !f(it.Key(), value) {
			break
		}
	}
	if err := it.Close(); err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	return nil
}

// pebbleLogger passes on Pebble's errors. Its other messages do not help an operator.
type pebbleLogger struct {
	log  *slog.Logger
	disk *Disk
}

func (l *pebbleLogger) Infof(string, ...any) {}

func (l *pebbleLogger) Errorf(format string, args ...any) {
	l.log.Error("store", "error", fmt.Sprintf(format, args...))
}

// Fatalf is called when Pebble cannot continue. Pebble does not expect it to return.
func (l *pebbleLogger) Fatalf(format string, args ...any) {
	l.disk.fail(fmt.Errorf(format, args...))
	l.disk.blockIfDead()
}

func listener(log *slog.Logger) *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			if blockedReason(err) == "" { // the disk reports it itself
				log.Error("store background work", "error", err)
			}
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			log.Error("store data is damaged", "file", info.Path, "detail", info.Details)
		},
		DiskSlow: func(info pebble.DiskSlowInfo) {
			log.Warn("disk is slow", "file", info.Path, "operation", info.OpType.String(), "duration", info.Duration)
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			log.Warn("store stalls writes", "reason", info.Reason)
		},
	}
}
