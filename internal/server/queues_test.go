package server

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/consumers"
)

// A node that returns with a newer catalog may learn of a queue that it never knew and that is already deleted.
func TestForgetConsumersOfUnknownQueue(t *testing.T) {
	q := &queues{consumers: consumers.New()}
	q.forgetConsumers(nil, &catalog.Queue{ID: 1, Deleted: time.Unix(1, 0)})
}
