package server

import (
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/datadir"
)

// noteStart logs what was recovered if the server before this one did not stop in order. took is how long it took to
// read the stores. A note that cannot be written keeps no server from starting: nothing depends on it.
func (st *storage) noteStart(took time.Duration) {
	if !st.onDisk() {
		return
	}
	crashed, err := datadir.Begin(st.config.Data)
	if err != nil {
		st.log.Warn("the next start will not know whether this server stopped in order", "error", err)
		return
	}
	st.begun = true
	if !crashed {
		return
	}
	attrs := []any{slog.Duration("took", took.Round(time.Millisecond))}
	if a, ok := st.node.(*alone); ok { // in a cluster, the log has what the stores lack
		logs := a.messages.Logs()
		attrs = append(attrs, "commits", logs.Commits, "bytes", logs.Bytes)
	}
	st.log.Info("recovered: the last server on this data directory was killed or lost power; all that it acknowledged is there", attrs...)
}

// noteStop notes that the server has stopped in order.
func (st *storage) noteStop() error {
	if !st.begun {
		return nil
	}
	return datadir.End(st.config.Data)
}

// onDisk reports whether the data directory is one of the machine.
func (st *storage) onDisk() bool { return !st.config.InMemory && st.config.disk == nil }
