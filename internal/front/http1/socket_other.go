//go:build !unix

package http1

import (
	"net"
	"syscall"
)

// socket would read from a file descriptor in ways that net.Conn does not offer. On this system connections keep their
// buffer, and only the watch detects that a client has left.
type socket struct{ raw syscall.RawConn }

func (*socket) open(net.Conn) {}

func (*socket) await() (*buffer, error) { panic("there is no file descriptor") }

func (*socket) ended() (gone bool, b []byte) { return false, nil }
