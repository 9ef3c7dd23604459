package server

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// returnProgram returns the pages of the program's code and constants to the system. Each page that was touched, and
// those around it, count as memory of the process, although the system has them in its cache of the file, where it
// finds them when they are next needed.
//
// Only segments that are never writable are returned: a page that has changed would lose its contents. Segments that
// become read-only after the start (RELRO) have changed.
func returnProgram() error {
	segments, err := programSegments()
	if err != nil {
		return fmt.Errorf("read the segments of the program: %w", err)
	}
	for _, s := range segments {
		if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, s.start, s.length, syscall.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("return %d bytes of the program: %w", s.length, errno)
		}
	}
	return nil
}

// segment is a range of memory, in whole pages.
type segment struct{ start, length uintptr }

// programSegments returns the segments of the program that are never writable. It returns none for a program that can
// be loaded at any address, because its file does not say where it is.
func programSegments() (list []segment, err error) {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Type != elf.ET_EXEC {
		return nil, nil
	}
	page := uint64(os.Getpagesize())
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W != 0 {
			continue
		}
		start, end := (p.Vaddr+page-1)&^(page-1), (p.Vaddr+p.Filesz)&^(page-1)
		if start < end {
			list = append(list, segment{uintptr(start), uintptr(end - start)})
		}
	}
	return list, nil
}
