package service

import (
	"strings"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/catalog"
)

const (
	// FIFOSuffix is what the names of FIFO queues end in, and of no others.
	FIFOSuffix = ".fifo"
	// MaxQueueName is how many characters the name of a queue has at most.
	MaxQueueName = 80
	// MaxQueueARN is more than the longest ARN of a queue has: arn:aws-iso-b:sqs: and then a
	// region of 63 characters, an account of 12 and a name of 80.
	MaxQueueARN = 512
)

// ParseQueueARN takes a queue's ARN apart. Its partition may be any: clients write that of
// the AWS region they believe to be in.
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

// ValidQueueName reports whether there can be a queue of that name, of either type.
func ValidQueueName(s string) bool {
	base, fifo := strings.CutSuffix(s, FIFOSuffix)
	return ValidName(base, MaxQueueName) && (!fifo || len(s) <= MaxQueueName)
}
