package server

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// releaseProgram unmaps the pages of the program that the process has touched. The system counts them as memory of the
// process, and most of them are used by the start alone. They stay in the system's cache of files: a page that is used
// again is mapped again without a read.
//
// Only mappings that cannot be written are released, because their pages equal those of the file. New kernels map 2 MiB
// for one byte that is used. Code runs faster that way; for data, releaseProgram turns it off.
func releaseProgram() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		m, ok := parseMapping(lines.Text(), program)
		if !ok {
			continue
		}
		if !m.code {
			_ = m.advise(syscall.MADV_NOHUGEPAGE) // a kernel without huge pages refuses it
		}
		if err := m.advise(syscall.MADV_DONTNEED); err != nil {
			return fmt.Errorf("release the pages of the program: %w", err)
		}
	}
	return lines.Err()
}

// mapping is a part of the program in the process's memory.
type mapping struct {
	start, end uintptr
	code       bool
}

func (m mapping) advise(advice uintptr) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, advice); errno != 0 {
		return errno
	}
	return nil
}

// parseMapping reads a line of /proc/self/maps, as proc_pid_maps(5) describes it. It reports whether the line is a
// mapping of program that cannot be written, private to this process.
func parseMapping(line, program string) (m mapping, ok bool) {
	var access, offset, device, inode string
	if n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %s", &m.start, &m.end, &access, &offset, &device, &inode); n != 6 {
		return mapping{}, false
	}
	m.code = access == "r-xp"
	return m, (m.code || access == "r--p") && strings.HasSuffix(line, " "+program)
}
