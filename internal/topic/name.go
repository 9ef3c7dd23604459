package topic

import (
	"errors"
	"fmt"
	"strings"
)

// Name is what a topic is found by: an account, a region and a name. Regions are namespaces of their own.
type Name struct {
	Account string
	Region  string
	Topic   string
}

// FIFOSuffix is what the names of FIFO topics end in, and of no others.
const FIFOSuffix = ".fifo"

// ARN returns the topic's Amazon Resource Name.
func (n Name) ARN() string { return "arn:aws:sns:" + n.Region + ":" + n.Account + ":" + n.Topic }

// FIFO reports whether n is the name of a FIFO topic.
func (n Name) FIFO() bool { return strings.HasSuffix(n.Topic, FIFOSuffix) }

// ErrNotTopic says that an ARN has the form of one, and is not a topic's.
var ErrNotTopic = errors.New("it is not the ARN of a topic")

// arnParts is how many parts the ARN of a topic has.
const arnParts = 6

// ParseARN takes a topic's ARN apart. Its partition may be any: clients write that of the AWS region that they believe
// to be in. It does not look at what the parts consist of, because what no topic is called is not found.
func ParseARN(arn string) (Name, error) {
	n, rest, err := parseARN(arn)
	if err == nil && rest != "" {
		return Name{}, ErrNotTopic
	}
	return n, err
}

// ParseSubscriptionARN takes a subscription's ARN apart: that of its topic, and its id.
func ParseSubscriptionARN(arn string) (n Name, id string, err error) {
	n, id, err = parseARN(arn)
	if err == nil && id == "" {
		return Name{}, "", ErrNotTopic
	}
	return n, id, err
}

func parseARN(arn string) (n Name, rest string, err error) {
	parts := strings.SplitN(arn, ":", arnParts+1)
	switch {
	case len(parts) < arnParts:
		return Name{}, "", fmt.Errorf(
			"An ARN must have at least %d elements, not %d",
			arnParts,
			len(parts),
		) //nolint:staticcheck // AWS's sentence
	case parts[0] != "arn" || parts[1] == "" || parts[2] != "sns" || parts[3] == "" || parts[4] == "" || parts[5] == "":
		return Name{}, "", ErrNotTopic
	}
	if len(parts) > arnParts {
		rest = parts[arnParts]
		if rest == "" || strings.Contains(rest, ":") {
			return Name{}, "", ErrNotTopic
		}
	}
	return Name{Region: parts[3], Account: parts[4], Topic: parts[5]}, rest, nil
}
