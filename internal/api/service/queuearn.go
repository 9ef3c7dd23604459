package service

import (
	"strings"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/catalog"
)

const (
	// FIFOSuffix ends the names of FIFO queues, and of no others.
	FIFOSuffix = ".fifo"
	// MaxQueueName is the maximum length of a queue name in characters.
	MaxQueueName = 80
	// MaxQueueARN is more than the longest ARN of a queue has: arn:aws-iso-b:sqs: and then a
	// region of 63 characters, an account of 12 and a name of 80.
	MaxQueueARN = 512
)

// ParseQueueARN parses a queue's ARN. Its partition may be any: clients use the partition of the AWS region that they
// believe to be in.
func ParseQueueARN(arn string) (catalog.Name, bool) {
	if len(arn) > MaxQueueARN {
		return catalog.Name{}, false
	}
	parts := strings.Split(arn, ":")
	if len(parts) != 6 || parts[0] != "arn" || parts[1] == "" || parts[2] != "sqs" || !identity.IsRegion(parts[3]) ||
		!identity.IsAccount(parts[4]) || !ValidQueueName(parts[5]) {
		return catalog.Name{}, false
	}
	return catalog.Name{Region: parts[3], Account: parts[4], Queue: parts[5]}, true
}

// ValidQueueName reports whether a queue of either type can have that name.
func ValidQueueName(s string) bool {
	base, fifo := strings.CutSuffix(s, FIFOSuffix)
	return ValidName(base, MaxQueueName) && (!fifo || len(s) <= MaxQueueName)
}
