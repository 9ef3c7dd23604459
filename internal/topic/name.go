package topic

import (
	"errors"
	"fmt"
	"strings"
)

// Name identifies a topic: an account, a region and a name. Each region is a namespace.
type Name struct {
	Account string
	Region  string
	Topic   string
}

// FIFOSuffix is the suffix of the names of FIFO topics. Other names do not have it.
const FIFOSuffix = ".fifo"

// ARN returns the topic's Amazon Resource Name.
func (n Name) ARN() string { return "arn:aws:sns:" + n.Region + ":" + n.Account + ":" + n.Topic }

// FIFO reports whether n is the name of a FIFO topic.
func (n Name) FIFO() bool { return strings.HasSuffix(n.Topic, FIFOSuffix) }

// ErrNotTopic means that a text has the form of an ARN, but not that of a topic.
var ErrNotTopic = errors.New("it is not the ARN of a topic")

// arnParts is how many parts the ARN of a topic has.
const arnParts = 6

// ParseARN parses a topic's ARN. It accepts any partition, because clients write the one of the AWS region that they
// assume. It does not check the characters of the parts: no topic has an invalid name, so none is found.
func ParseARN(arn string) (Name, error) {
	n, rest, err := parseARN(arn)
	if err == nil && rest != "" {
		return Name{}, ErrNotTopic
	}
	return n, err
}

// ParseSubscriptionARN parses a subscription's ARN into its topic and its id.
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
