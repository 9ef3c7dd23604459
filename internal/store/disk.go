package store

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Disk is a file system with stores, and knows whether it can be written. Stores on the same disk share one Disk, so
// all of them know when one store finds it blocked.
//
// Pebble ends the process if a write of its log fails. A full or read-only disk need not end it, so a Disk hides that
// from Pebble: it retries a refused write at the same place until it succeeds. Meanwhile the disk is blocked, and
// callers need not wait for the end; see [Writable]. A write of a table is given up sooner, because Pebble does not
// depend on the table: it removes the part that it has written, which frees space for other writes, and starts the
// table again.
//
// Any other failure of a write ends the disk, and so does every failure of a sync: the kernel may have dropped the data
// that it could not write, and the next sync would still succeed. The disk accepts no more writes; a goroutine that
// tries to write blocks forever. The process must end, and the next one reads the data that is there.
type Disk struct {
	fs           vfs.FS
	log          *slog.Logger
	volatile     bool          // it is lost when the process ends, so syncs are useless
	retry        time.Duration // between attempts
	tableTimeout time.Duration // with a table
	guardTimeout time.Duration // maximum wait of Guard

	writable atomic.Pointer[Writable]
	lifetime *Writable // until the disk is given up
	// checkpoints holds the directories of checkpoints in progress. Their writes are given up when the disk is full,
	// like writes of tables: Pebble removes no file meanwhile, and only a removal may free space.
	checkpoints sync.Map
	logged      atomic.Bool // the log reports the disk as blocked

	mu      sync.Mutex
	waiting int // operations that the disk refuses
	since   time.Time
}

const (
	retryInterval = 100 * time.Millisecond
	tableTimeout  = 5 * time.Second
	guardTimeout  = time.Second
)

// NewDisk returns a disk on the given file system; nil means the machine's. The logger, which may be nil, reports the
// beginning and the end of each block.
func NewDisk(fs vfs.FS, log *slog.Logger) *Disk {
	if fs == nil {
		fs = vfs.Default
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Disk{
		fs: fs, log: log, retry: retryInterval, tableTimeout: tableTimeout, guardTimeout: guardTimeout,
		lifetime: newWritable(),
	}
	d.writable.Store(newWritable())
	return d
}

// NewMemoryDisk returns an empty disk in memory, which is lost when the process ends.
func NewMemoryDisk(log *slog.Logger) *Disk {
	d := NewDisk(vfs.NewMem(), log)
	d.volatile = true
	return d
}

// A Writable is a period in which a disk can be written. It ends when the disk is blocked. When the disk can be written
// again, another Writable begins.
type Writable struct {
	blocked chan struct{}
	err     error // may be read when blocked is closed
}

func newWritable() *Writable { return &Writable{blocked: make(chan struct{})} }

// NewWritable returns a Writable for something other than a disk, and a function that ends it. Call the function once,
// with the error for Err.
func NewWritable() (c *Writable, end func(error)) {
	c = newWritable()
	return c, c.end
}

// Blocked returns a channel that is closed when the period ends.
func (c *Writable) Blocked() <-chan struct{} { return c.blocked }

// Err returns nil until Blocked is closed, and then the reason: for a disk a *BlockedError.
func (c *Writable) Err() error {
	select {
	case <-c.blocked:
		return c.err
	default:
		return nil
	}
}

func (c *Writable) end(err error) {
	c.err = err
	close(c.blocked)
}

// BlockedError reports that a disk cannot be written, and why.
type BlockedError struct {
	Reason string // in words that a client may read: "it is full"
	Cause  error  // may be nil
}

func (e *BlockedError) Error() string {
	if e.Cause == nil {
		return "the disk cannot be written: " + e.Reason
	}
	return fmt.Sprintf("the disk cannot be written: %s (%v)", e.Reason, e.Cause)
}

func (e *BlockedError) Unwrap() error { return e.Cause }

// Writable returns the current Writable.
func (d *Disk) Writable() *Writable { return d.writable.Load() }

// Lifetime returns a Writable that ends when the disk is given up. No other follows it.
func (d *Disk) Lifetime() *Writable { return d.lifetime }

// Free returns the free space and the size of the disk with dir, in bytes.
func (d *Disk) Free(dir string) (free, total uint64, err error) {
	u, err := d.fs.GetDiskUsage(dir)
	return u.AvailBytes, u.TotalBytes, err
}

// Guard calls f, which may write, and returns its error. If the disk stays blocked for a second, Guard gives the disk
// up and returns a *BlockedError, and f blocks forever. Start and stop use it, because they must end.
func (d *Disk) Guard(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	for {
		c := d.Writable()
		select {
		case err := <-done:
			return err
		case <-c.blocked:
		}
		select {
		case err := <-done:
			return err
		case <-d.lifetime.blocked:
			return d.lifetime.err
		case <-time.After(d.guardTimeout):
		}
		if c := d.Writable(); c.Err() != nil {
			d.giveUp(c.err)
			return c.err
		}
	}
}

// fail gives the disk up after an operation that must not be repeated.
func (d *Disk) fail(cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lifetime.Err() == nil {
		d.log.Error("the disk has failed; its data must be read again", "error", cause)
		d.end(&BlockedError{Reason: "a write has failed", Cause: cause})
	}
}

func (d *Disk) giveUp(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lifetime.Err() == nil {
		d.end(err)
	}
}

// end ends the lifetime of the disk. A caller that learns that writes are blocked finds it ended. d.mu is held.
func (d *Disk) end(err error) {
	d.lifetime.end(err)
	d.block(err)
}

// block ends the current Writable, or replaces its reason. d.mu is held.
func (d *Disk) block(err error) {
	c := d.writable.Load()
	if c.Err() != nil {
		c = newWritable()
		defer d.writable.Store(c)
	}
	c.end(err)
}

// blockIfDead blocks forever if the disk was given up.
func (d *Disk) blockIfDead() {
	if d.lifetime.Err() != nil {
		select {}
	}
}

// blockedReason returns why an intact disk has refused a write with err, or "".
func blockedReason(err error) string {
	switch {
	case err == nil:
	case errors.Is(err, syscall.ENOSPC):
		return "it is full"
	case errors.Is(err, syscall.EDQUOT):
		return "the quota is used up"
	case errors.Is(err, syscall.EROFS):
		return "it is read-only"
	}
	return ""
}

// try calls op until the disk accepts it. For a table it returns the refusal after some time.
func (d *Disk) try(table bool, op func() error) error {
	d.blockIfDead()
	err := op()
	if blockedReason(err) == "" {
		if err == nil && d.logged.Load() {
			d.unblocked()
		}
		return err
	}
	d.blockedBy(err)
	for end := time.Now().Add(d.tableTimeout); !table || time.Now().Before(end); {
		d.pause(d.retry)
		if err = op(); blockedReason(err) == "" {
			d.resumed(err == nil)
			return err
		}
	}
	d.resumed(false)
	return err
}

// write is try for an operation that writes to a file.
func (d *Disk) write(table bool, op func() error) error {
	err := d.try(table, op)
	if err != nil && blockedReason(err) == "" {
		d.fail(err)
		d.blockIfDead()
	}
	return err
}

// sync calls op, which syncs, once. Only the sync of a table may fail, because Pebble then starts the table again.
func (d *Disk) sync(table bool, op func() error) error {
	d.blockIfDead()
	err := op()
	switch {
	case err == nil:
	case errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported):
		// The file system does not support this sync: nothing was tried.
	case table && blockedReason(err) != "":
		d.blockedBy(err)
		d.pause(d.tableTimeout)
		d.resumed(false)
	default:
		d.fail(err)
		d.blockIfDead()
	}
	return err
}

func (d *Disk) pause(t time.Duration) {
	select {
	case <-d.lifetime.blocked:
		select {}
	case <-time.After(t):
	}
}

// blockedBy records that an operation waits because of err.
func (d *Disk) blockedBy(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting++
	if d.logged.CompareAndSwap(false, true) {
		d.since = time.Now()
		d.log.Error("the disk cannot be written; requests are refused until it can", "reason", blockedReason(err), "error", err)
	}
	if d.waiting == 1 && d.Writable().Err() == nil {
		d.block(&BlockedError{Reason: blockedReason(err), Cause: err})
	}
}

// resumed records that an operation no longer waits, because it succeeded or gave up.
func (d *Disk) resumed(succeeded bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
	if d.lifetime.Err() != nil {
		return
	}
	if d.waiting == 0 {
		d.writable.Store(newWritable())
	}
	if succeeded {
		d.logUnblocked()
	}
}

func (d *Disk) unblocked() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logUnblocked()
}

// tellLocked logs that the disk can be written again, if no operation waits.
func (d *Disk) logUnblocked() {
	if d.waiting == 0 && d.logged.CompareAndSwap(true, false) {
		d.log.Info("the disk can be written again", "after", time.Since(d.since).Round(time.Millisecond))
	}
}
