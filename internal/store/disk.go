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

// A Disk is what stores live on: a file system, and what is known of its
// condition. Stores on the same disk share one, so that what one of them finds
// out holds for all.
//
// Pebble takes a write of its log that fails for the end of the world. A disk
// that is full or read-only is not that, so it is kept from Pebble: what such a
// disk refuses is tried again, in the same place, until it succeeds. The disk is
// stuck meanwhile, and whoever has asked for something need not wait for it to
// end; see [Condition]. Tables are not waited for as long. Pebble can do without
// one: it removes what it has written of it, which makes room for the others, and
// starts it anew.
//
// Any other failure of a write is the end, and so is every failure of a sync:
// the kernel may have dropped what it could not write, and would say next time
// that all is well. The disk is then given up. Nothing is written to it any
// more, not even by those who are about to: they stand still where they are. The
// process must end, and the next one reads what is there.
type Disk struct {
	fs       vfs.FS
	log      *slog.Logger
	volatile bool          // nothing on it outlives the process: there is no use in syncing
	retry    time.Duration // between attempts
	patience time.Duration // with a table
	moment   time.Duration // how long Guard waits

	condition atomic.Pointer[Condition]
	life      *Condition  // until the disk is given up
	told      atomic.Bool // it is in the log that the disk refuses to be written, and not yet that it no longer does

	mu      sync.Mutex
	waiting int // operations that the disk refuses
	since   time.Time
}

const (
	retryInterval = 100 * time.Millisecond
	tablePatience = 5 * time.Second
	guardMoment   = time.Second
)

// NewDisk returns a disk with that file system; nil means the machine's. The
// logger, which may be nil, hears when it gets stuck and when that is over.
func NewDisk(fs vfs.FS, log *slog.Logger) *Disk {
	if fs == nil {
		fs = vfs.Default
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Disk{fs: fs, log: log, retry: retryInterval, patience: tablePatience, moment: guardMoment, life: newCondition()}
	d.condition.Store(newCondition())
	return d
}

// NewMemoryDisk returns an empty disk that lives in memory and dies with the
// process.
func NewMemoryDisk(log *slog.Logger) *Disk {
	d := NewDisk(vfs.NewMem(), log)
	d.volatile = true
	return d
}

// A Condition is a time in which a disk can be written. When the disk gets stuck,
// that time is over; when it can be written again, there is another Condition.
type Condition struct {
	stuck chan struct{}
	err   error // to be read when stuck is closed
}

func newCondition() *Condition { return &Condition{stuck: make(chan struct{})} }

// NewCondition returns a time in which something else than a disk can be written,
// too, and what ends it; to be called once, with what Err is to return.
func NewCondition() (c *Condition, end func(error)) {
	c = newCondition()
	return c, c.end
}

// Stuck returns a channel that is closed when the disk gets stuck.
func (c *Condition) Stuck() <-chan struct{} { return c.stuck }

// Err returns nil until Stuck is closed, and then why: of a disk a *StuckError.
func (c *Condition) Err() error {
	select {
	case <-c.stuck:
		return c.err
	default:
		return nil
	}
}

func (c *Condition) end(err error) {
	c.err = err
	close(c.stuck)
}

// StuckError says that a disk takes no writes, and why.
type StuckError struct {
	Reason string // in words for anybody: "it is full"
	Cause  error  // may be nil
}

func (e *StuckError) Error() string {
	if e.Cause == nil {
		return "the disk cannot be written: " + e.Reason
	}
	return fmt.Sprintf("the disk cannot be written: %s (%v)", e.Reason, e.Cause)
}

func (e *StuckError) Unwrap() error { return e.Cause }

// Condition returns the present one.
func (d *Disk) Condition() *Condition { return d.condition.Load() }

// Life returns a Condition that is over when the disk is given up: after it there
// is no other.
func (d *Disk) Life() *Condition { return d.life }

// Free returns how many bytes can still be written to the disk that dir is on,
// and how many it has.
func (d *Disk) Free(dir string) (free, total uint64, err error) {
	u, err := d.fs.GetDiskUsage(dir)
	return u.AvailBytes, u.TotalBytes, err
}

// Guard does f, which may write, and returns its error. If the disk is stuck, or
// gets stuck meanwhile, and that is not over in a moment, it is given up and Guard
// returns a *StuckError; f is left behind where it stands. This is for starting and
// stopping, which must come to an end.
func (d *Disk) Guard(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	for {
		c := d.Condition()
		select {
		case err := <-done:
			return err
		case <-c.stuck:
		}
		select {
		case err := <-done:
			return err
		case <-d.life.stuck:
			return d.life.err
		case <-time.After(d.moment):
		}
		if c := d.Condition(); c.Err() != nil {
			d.giveUp(c.err)
			return c.err
		}
	}
}

// fail gives up the disk because of something that must not be repeated.
func (d *Disk) fail(cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.life.Err() == nil {
		d.log.Error("the disk has failed; what is on it must be read anew", "error", cause)
		d.die(&StuckError{Reason: "a write has failed", Cause: cause})
	}
}

func (d *Disk) giveUp(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.life.Err() == nil {
		d.die(err)
	}
}

// die ends the life of the disk. d.mu is held.
func (d *Disk) die(err error) {
	d.stick(err)
	d.life.end(err)
}

// stick makes the disk stuck, or gives it another reason to be. d.mu is held.
func (d *Disk) stick(err error) {
	c := d.condition.Load()
	if c.Err() != nil {
		c = newCondition()
		defer d.condition.Store(c)
	}
	c.end(err)
}

// live stands still if the disk has been given up.
func (d *Disk) live() {
	if d.life.Err() != nil {
		select {}
	}
}

// refusal says why a disk that is all right otherwise takes no writes, or "".
func refusal(err error) string {
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

// try does op until the disk does not refuse it. If it is about a table, the
// refusal is returned in the end.
func (d *Disk) try(table bool, op func() error) error {
	d.live()
	err := op()
	if refusal(err) == "" {
		if err == nil && d.told.Load() {
			d.well()
		}
		return err
	}
	d.refused(err)
	for end := time.Now().Add(d.patience); !table || time.Now().Before(end); {
		d.pause(d.retry)
		if err = op(); refusal(err) == "" {
			d.resumed(err == nil)
			return err
		}
	}
	d.resumed(false)
	return err
}

// write is try for what writes into a file.
func (d *Disk) write(table bool, op func() error) error {
	err := d.try(table, op)
	if err != nil && refusal(err) == "" {
		d.fail(err)
		d.live()
	}
	return err
}

// sync does op, which syncs, once. It is enough for a table to be begun anew.
func (d *Disk) sync(table bool, op func() error) error {
	d.live()
	err := op()
	switch {
	case err == nil:
	case errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported):
		// Not on this kind of file system: nothing was tried.
	case table && refusal(err) != "":
		d.refused(err)
		d.pause(d.patience)
		d.resumed(false)
	default:
		d.fail(err)
		d.live()
	}
	return err
}

func (d *Disk) pause(t time.Duration) {
	select {
	case <-d.life.stuck:
		select {}
	case <-time.After(t):
	}
}

// refused notes that an operation waits because of err.
func (d *Disk) refused(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting++
	if d.told.CompareAndSwap(false, true) {
		d.since = time.Now()
		d.log.Error("the disk cannot be written; requests are refused until it can", "reason", refusal(err), "error", err)
	}
	if d.waiting == 1 && d.Condition().Err() == nil {
		d.stick(&StuckError{Reason: refusal(err), Cause: err})
	}
}

// resumed notes that an operation no longer waits, because it succeeded or
// because it gave up.
func (d *Disk) resumed(succeeded bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
	if d.life.Err() != nil {
		return
	}
	if d.waiting == 0 {
		d.condition.Store(newCondition())
	}
	if succeeded {
		d.tellLocked()
	}
}

func (d *Disk) well() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tellLocked()
}

// tellLocked logs that the disk can be written again, if nothing waits for it.
func (d *Disk) tellLocked() {
	if d.waiting == 0 && d.told.CompareAndSwap(true, false) {
		d.log.Info("the disk can be written again", "after", time.Since(d.since).Round(time.Millisecond))
	}
}
