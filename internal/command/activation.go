package command

import (
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/sluicemq/sluice/internal/server"
)

// takeSocket has a server listen on the socket that a supervisor such as systemd hands over (sd_listen_fds), if there
// is one: it takes the place of --listen, and all that is checked of that is checked of its address.
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
