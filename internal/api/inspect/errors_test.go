package inspect

import (
	"errors"
	"testing"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// The error code tells clients that there are too many queues to order, so that they list them by name.
func TestTooManyQueuesToOrder(t *testing.T) {
	t.Parallel()
	_, err := new(queueLister).order(t.Context(), &listQueueStatesInput{OrderBy: "Visible"},
		make([]*catalog.Queue, maxOrdered+1))
	if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != "TooManyQueues" || e.Type != "TooManyQueues" {
		t.Errorf("got %v", err)
	}
}

// A node that lags catches up before it refuses an undo: the deletion may have gone through another node.
func TestRefusedUndoMaySoonBeKnown(t *testing.T) {
	if !service.SaysAbsent(errNotUndone(catalog.Name{Queue: "jobs"})) {
		t.Error("a node refuses an undo without catching up")
	}
}
