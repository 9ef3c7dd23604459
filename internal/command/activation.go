package command

import (
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/sluicemq/sluice/internal/server"
)

// takeSocket makes a server listen on the socket that a supervisor such as systemd hands over (sd_listen_fds), if there
// is one. It replaces --listen, and the checks of --listen apply to its address.
func takeSocket(c *server.Config) error {
	sockets, err := activation.Listeners()
	if err != nil {
		return fmt.Errorf("LISTEN_FDS: %w", err)
	}
	if len(sockets) == 0 {
		return nil
	}
	l, ok := sockets[0].(*net.TCPListener)
	if !ok || len(sockets) > 1 {
		return fmt.Errorf(
			"LISTEN_FDS: %d sockets were handed over, and one is wanted, of TCP: ListenStream=127.0.0.1:9324 in sluice.socket, once",
			len(sockets),
		)
	}
	c.Listener, c.Listen = l, l.Addr().String()
	return nil
}
