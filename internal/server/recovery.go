package server

import (
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/datadir"
)

// noteStart logs the recovery if the previous server did not stop in order. took is how long the stores took to open. A
// failure to write the note does not prevent the start: nothing depends on the note.
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
	if a, ok := st.node.(*alone); ok { // in a cluster, the log has the records that the stores lack
		logs := a.messages.Logs()
		attrs = append(attrs, "commits", logs.Commits, "bytes", logs.Bytes)
	}
	st.log.Info("recovered: the last server on this data directory was killed or lost power; "+
		"everything that it acknowledged is there", attrs...)
}

// noteStop records that the server has stopped in order.
func (st *storage) noteStop() error {
	if !st.begun {
		return nil
	}
	return datadir.End(st.config.Data)
}

// onDisk reports whether the data directory is on the machine's file system.
func (st *storage) onDisk() bool { return !st.config.InMemory && st.config.disk == nil }
