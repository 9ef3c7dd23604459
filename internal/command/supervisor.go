package command

import (
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellSupervisor tells systemd how the server is, where systemd has started it and asks
// for that (NOTIFY_SOCKET is in the environment); see sd_notify(3).
func tellSupervisor(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("the server's state could not be reported to systemd", "state", state, "error", err)
	}
}

// tellReloading tells systemd that the server begins to read its settings again. When it is
// done, tell SdNotifyReady.
func tellReloading(log *slog.Logger) {
	tellSupervisor(log, daemon.SdNotifyReloading+"\n"+daemon.SdNotifyMonotonicUsec())
}
