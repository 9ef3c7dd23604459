//go:build unix

package http1

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// socket reads from a file descriptor in ways that net.Conn does not offer.
type socket struct {
	raw   syscall.RawConn // nil: there is no file descriptor
	fill  func(fd uintptr) bool
	probe func(fd uintptr) bool

	in  *buffer // result of fill
	one [1]byte // result of probe
	n   int
	err error
}

func (s *socket) open(conn net.Conn) {
	if c, ok := conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			s.raw, s.fill, s.probe = raw, s.tryFill, s.tryProbe
		}
	}
}

// await waits for bytes and returns them in a buffer that it takes when they have arrived.
func (s *socket) await() (*buffer, error) {
	err := s.raw.Read(s.fill)
	in := s.in
	s.in = nil
	switch {
	case err != nil:
		return nil, err
	case s.err != nil:
		return nil, s.err
	}
	return in, nil
}

// tryFill returns false if no bytes have arrived.
func (s *socket) tryFill(fd uintptr) bool {
	in := takeBuffer()
	in.w, s.err = readNow(fd, in.b[:])
	if s.err != nil {
		buffers.Put(in)
		return !errors.Is(s.err, syscall.EAGAIN)
	}
	s.in = in
	return true
}

// ended reads without waiting. It reports whether the client has left, or otherwise may return a byte.
func (s *socket) ended() (gone bool, b []byte) {
	if s.raw == nil || s.raw.Read(s.probe) != nil {
		return false, nil
	}
	if s.err != nil {
		return !errors.Is(s.err, syscall.EAGAIN), nil
	}
	return false, s.one[:s.n]
}

func (s *socket) tryProbe(fd uintptr) bool {
	s.n, s.err = readNow(fd, s.one[:])
	return true
}

// readNow reads at least one byte. Its error is io.EOF at the end, and EAGAIN if no bytes have arrived.
func readNow(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), b)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}
