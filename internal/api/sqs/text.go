package sqs

import (
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
)

// validQueueName reports whether there can be a queue of that name, of either type.
func validQueueName(s string) bool {
	base, fifo := strings.CutSuffix(s, fifoSuffix)
	return service.ValidName(base, maxNameLength) && (!fifo || len(s) <= maxNameLength)
}
