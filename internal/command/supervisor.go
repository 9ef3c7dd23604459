package command

import (
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellSupervisor reports the state of the server to systemd, if systemd has started it and asks for that (NOTIFY_SOCKET
// is in the environment); see sd_notify(3).
func tellSupervisor(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("the server's state could not be reported to systemd", "state", state, "error", err)
	}
}

// tellReloading reports to systemd that the server begins to read its settings again. Call tell with SdNotifyReady when
// it is done.
func tellReloading(log *slog.Logger) {
	tellSupervisor(log, daemon.SdNotifyReloading+"\n"+daemon.SdNotifyMonotonicUsec())
}
