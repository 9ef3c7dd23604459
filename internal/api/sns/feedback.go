package sns

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The attributes about delivery logs, behind the name of a protocol. The server writes no such logs. It keeps the
// sample rates, which Terraform sets for every topic, and refuses the roles that would write.
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
		return c.wrong(name, "This server does not write delivery logs to CloudWatch Logs.")
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
