package command

import (
	"fmt"
	"net"

	"github.com/sluicemq/sluice/internal/server"
)

// takeSocket makes a server listen on the socket that a supervisor such as systemd hands over (sd_listen_fds), if there
// is one. It replaces --listen, and the checks of --listen apply to its address.
func takeSocket(c *server.Config) error {
	given := sockets()
	if len(given) == 0 {
		return nil
	}
	l, ok := given[0].(*net.TCPListener)
	if !ok || len(given) > 1 {
		return fmt.Errorf(
			"LISTEN_FDS: %d sockets were handed over, and one is wanted, of TCP: ListenStream=127.0.0.1:9324 in sluice.socket, once",
			len(given),
		)
	}
	c.Listener, c.Listen = l, l.Addr().String()
	return nil
}
