package server

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// returnProgram returns the pages of the program's code and constants to the system. Each page that was touched, and
// those around it, count as memory of the process, although the system has them in its cache of the file, where it
// finds them when they are next needed.
//
// A page that differs from the file would lose its contents. So only mappings are returned that nothing can write, and
// in which nothing has: the loader writes some before it makes them read-only, and debuggers and uprobes change code.
func returnProgram() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	return returnPages(program)
}

// returnPages returns the pages of this process that are those of a file.
func returnPages(file string) error {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("find the pages of %s: %w", file, err)
	}
	for _, m := range cleanMappings(string(maps), file) {
		_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
		if errno != 0 {
			return fmt.Errorf("return %d bytes of %s: %w", m.end-m.start, file, errno)
		}
	}
	return nil
}

// mapping is a range of memory that has part of a file.
type mapping struct{ start, end uintptr }

// cleanMappings returns the read-only mappings of a file without changed pages. maps is the content of /proc/PID/smaps
// on Linux: for each mapping a line with its range, permissions, offset, device, inode and path, then lines with its
// properties, such as the size of its changed pages:
//
//	00400000-00402000 r-xp 00000000 08:01 131 /usr/bin/sluice
//	Anonymous:             0 kB
func cleanMappings(maps, file string) (list []mapping) {
	var m mapping
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		switch start, end, isRange := strings.Cut(fields[0], "-"); {
		case isRange:
			m = mapping{}
			if strings.HasPrefix(fields[1], "r-") && strings.HasSuffix(line, " "+file+"\n") {
				m = mapping{address(start), address(end)}
			}
		case m != mapping{} && fields[0] == "Anonymous:" && fields[1] == "0":
			list = append(list, m)
		}
	}
	return list
}

// address parses an address. 0 stands for one that Linux would not write.
func address(s string) uintptr {
	n, _ := strconv.ParseUint(s, 16, 64)
	return uintptr(n)
}
