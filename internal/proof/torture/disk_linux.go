package torture

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ownDisks returns why nodes cannot have disks of their own, or "".
func ownDisks(*Config) string {
	if os.Geteuid() != 0 {
		return "giving each node a disk of its own takes root"
	}
	for _, tool := range []string{"mkfs.ext4", "mount", "umount"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "giving each node a disk of its own takes " + tool
		}
	}
	if devices, _ := filepath.Glob("/dev/loop-control"); len(devices) == 0 {
		return "giving each node a disk of its own takes loop devices"
	}
	return ""
}

// slowDisks returns why the disks of nodes cannot be slowed down, or "".
func slowDisks(c *Config) string {
	if why := ownDisks(c); why != "" {
		return why
	}
	if _, err := writeLimits(); err != nil {
		return err.Error()
	}
	return ""
}

// diskSize is the size of a node's disk.
const diskSize = 1 << 30

// disk is a file system on a loop device, whose file holds what the file system has written. Data that a process has
// written but not synced stays in memory until the kernel writes it, some seconds later.
type disk struct {
	dir  string // where it is mounted
	file string // of the loop device
}

// newDisk mounts an empty disk at dir, made of a file beside it.
func newDisk(dir string) (*disk, error) {
	d := &disk{dir: dir, file: dir + ".img"}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.file, nil, 0o600); err != nil {
		return nil, err
	}
	if err := os.Truncate(d.file, diskSize); err != nil {
		return nil, err
	}
	if err := run("mkfs.ext4", "-q", "-F", "-m", "0", d.file); err != nil {
		return nil, err
	}
	return d, d.mount()
}

func (d *disk) mount() error { return run("mount", "-o", "loop", d.file, d.dir) }

func (d *disk) remove() error { return run("umount", "-l", d.dir) }

// losePower replaces the disk by one that holds only what had reached its file. The caller has killed the processes
// that use it.
func (d *disk) losePower() error {
	kept := d.file + ".kept"
	if err := copyStill(d.file, kept); err != nil {
		return err
	}
	// The old file system writes what it still has in memory to the old file, which has no name anymore.
	if err := d.remove(); err != nil {
		return err
	}
	if err := os.Rename(kept, d.file); err != nil {
		return err
	}
	return d.mount()
}

// copyStill copies a file as it was at one moment. A file that changes while it is read is read again.
func copyStill(from, to string) error {
	for range 20 {
		before, err := os.Stat(from)
		if err != nil {
			return err
		}
		if err := run("cp", "--sparse=always", from, to); err != nil {
			return err
		}
		after, err := os.Stat(from)
		if err != nil {
			return err
		}
		if after.ModTime().Equal(before.ModTime()) {
			return nil
		}
	}
	return fmt.Errorf("%s changes all the time", from)
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// hog fills the disk of dir, and takes space that becomes free later, until free gives it back.
func hog(dir string) (free func() error, err error) {
	f, err := os.Create(filepath.Join(filepath.Dir(dir), "other-data"))
	if err != nil {
		return nil, err
	}
	stop := make(chan struct{})
	var done sync.WaitGroup
	var failed error
	done.Go(func() {
		size := int64(0)
		for {
			for piece := int64(64 << 20); piece >= 4<<10; {
				switch err := syscall.Fallocate(int(f.Fd()), 0, size, piece); {
				case err == nil:
					size += piece
				case errors.Is(err, syscall.ENOSPC):
					piece /= 2
				case errors.Is(err, syscall.EINTR):
				default:
					failed = err
					return
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() error {
		close(stop)
		done.Wait()
		return errors.Join(failed, f.Close(), os.Remove(f.Name()))
	}, nil
}

// throttle is how a control group limits the writes of its processes.
type throttle struct {
	root string // directory of the hierarchy
	file string // that takes the limit
	line string // what is written there, with device and number
}

// writeLimits returns how control groups of this machine limit writes.
func writeLimits() (throttle, error) {
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		controllers, err := os.ReadFile(filepath.Join(root, "cgroup.subtree_control"))
		if err == nil && strings.Contains(" "+strings.TrimSpace(string(controllers))+" ", " io ") {
			return throttle{root, "io.max", "%s wiops=%d"}, nil
		}
	}
	const old = "/sys/fs/cgroup/blkio"
	if _, err := os.Stat(filepath.Join(old, "cgroup.procs")); err == nil {
		return throttle{old, "blkio.throttle.write_iops_device", "%s %d"}, nil
	}
	return throttle{}, errors.New("limiting writes takes a control group controller of io, or blkio, that is switched on at the root")
}

// limitWrites makes a control group that limits the writes of its processes to the disk of dir, to a number a second.
// limit puts a process into it; restore moves all of them out and removes it.
func limitWrites(dir, name string, writes int) (limit func(pid int) error, restore func() error, err error) {
	how, err := writeLimits()
	if err != nil {
		return nil, nil, err
	}
	var stat syscall.Stat_t
	if err := syscall.Stat(filepath.Dir(dir), &stat); err != nil {
		return nil, nil, err
	}
	group := filepath.Join(how.root, name)
	if err := os.Mkdir(group, 0o755); err != nil {
		return nil, nil, err
	}
	major, minor := stat.Dev>>8&0xfff, stat.Dev&0xff|stat.Dev>>12&0xfff00
	line := fmt.Sprintf(how.line, fmt.Sprintf("%d:%d", major, minor), writes)
	if err := os.WriteFile(filepath.Join(group, how.file), []byte(line), 0o600); err != nil {
		return nil, nil, errors.Join(err, os.Remove(group))
	}
	put := func(group string, pid int) error {
		return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600)
	}
	limit = func(pid int) error {
		if err := put(group, pid); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return nil // another fault has killed it, and the process after it is limited as well
	}
	restore = func() error {
		pids, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
		for _, text := range strings.Fields(string(pids)) {
			if pid, err := strconv.Atoi(text); err == nil {
				_ = put(how.root, pid) // it may have ended meanwhile
			}
		}
		for range 100 {
			// Dying processes stay in it for a while.
			if gone := os.Remove(group); gone == nil || errors.Is(gone, os.ErrNotExist) {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return errors.Join(err, os.Remove(group))
	}
	return limit, restore, nil
}
