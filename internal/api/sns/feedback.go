package sns

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The attributes about delivery logs, behind the name of a protocol. The server writes no such logs, and keeps the
// attributes, which tools set and compare.
const (
	feedbackRate        = "SuccessFeedbackSampleRate"
	feedbackRole        = "SuccessFeedbackRoleArn"
	feedbackFailureRole = "FailureFeedbackRoleArn"
)

// isFeedback reports whether name is the name of an attribute about delivery logs, such as HTTPSuccessFeedbackRoleArn.
func isFeedback(name string) bool {
	for _, protocol := range []string{"HTTP", "SQS", "Lambda", "Application", "Firehose"} {
		if rest, ok := strings.CutPrefix(name, protocol); ok {
			return slices.Contains([]string{feedbackRate, feedbackRole, feedbackFailureRole}, rest)
		}
	}
	return false
}

// setFeedback sets an attribute about delivery logs. The empty string removes it.
func (c *topicChange) setFeedback(name, value string) error {
	switch rate, err := strconv.ParseUint(value, 10, 8); {
	case value == "":
		c.attrs.Feedback = maps.Clone(c.attrs.Feedback)
		delete(c.attrs.Feedback, name)
		return nil
	case !strings.HasSuffix(name, feedbackRate):
		if !roleARN.MatchString(value) {
			return c.wrong(name, "Must be the ARN of a role.")
		}
	case err != nil || rate > 100:
		return c.wrong(name, "Must be a whole number from 0 to 100.")
	}
	c.attrs.Feedback = maps.Clone(c.attrs.Feedback)
	if c.attrs.Feedback == nil {
		c.attrs.Feedback = make(map[string]string)
	}
	c.attrs.Feedback[name] = value
	return nil
}

var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`)
