package command

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
)

// The states of a server that systemd knows; see sd_notify(3).
const (
	stateReady     = "READY=1"
	stateReloading = "RELOADING=1"
	stateStopping  = "STOPPING=1"
)

// firstSocket is the descriptor of the first socket that systemd hands over; see sd_listen_fds(3).
const firstSocket = 3

// tellSupervisor reports the state of the server to systemd, if systemd has started it and asks for that (NOTIFY_SOCKET
// is in the environment).
func tellSupervisor(log *slog.Logger, state string) {
	if err := notify(state); err != nil {
		log.Warn("the server's state could not be reported to systemd", "state", state, "error", err)
	}
}

// notify sends a state to the socket that the environment names, if it names one.
func notify(state string) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte(state))
	return err
}

// tellReloading reports to systemd that the server begins to read its settings again. Call tellSupervisor with
// stateReady when it is done.
func tellReloading(log *slog.Logger) {
	state := stateReloading
	if now, ok := monotonic(); ok {
		state += fmt.Sprintf("\nMONOTONIC_USEC=%d", now.Microseconds())
	}
	tellSupervisor(log, state)
}

// sockets returns the sockets that systemd hands over to this process: nil for one that is no socket for connections.
// Children of this process do not get them.
func sockets() []net.Listener {
	defer func() {
		for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
			_ = os.Unsetenv(name) // a name without "=" is valid
		}
	}()
	if pid, err := strconv.Atoi(os.Getenv("LISTEN_PID")); err != nil || pid != os.Getpid() {
		return nil
	}
	n, err := strconv.ParseUint(os.Getenv("LISTEN_FDS"), 10, 10)
	if err != nil {
		return nil
	}
	list := make([]net.Listener, n)
	for i := range list {
		f := os.NewFile(firstSocket+uintptr(i), "LISTEN_FD")
		if l, err := net.FileListener(f); err == nil {
			list[i] = l // with a descriptor of its own
		}
		_ = f.Close()
	}
	return list
}
