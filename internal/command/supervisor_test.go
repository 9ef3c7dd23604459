//go:build linux

package command_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// systemd is notified when the server serves, when it reloads its settings and when it stops.
func TestSupervisorIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	told := func() string {
		t.Helper()
		var b [256]byte
		if err := socket.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := socket.Read(b[:])
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	t.Setenv("NOTIFY_SOCKET", path)
	s := serve(t, "--in-memory")
	if got := told(); got != "READY=1" {
		t.Errorf("notified %q at the start", got)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := told(); !strings.HasPrefix(got, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("notified %q on SIGHUP", got)
	}
	if got := told(); got != "READY=1" {
		t.Errorf("notified %q after SIGHUP", got)
	}
	go func() { _ = s.stop() }()
	if got := told(); got != "STOPPING=1" {
		t.Errorf("notified %q at the end", got)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
}
