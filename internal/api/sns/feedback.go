package sns

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
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

// setFeedback sets an attribute about delivery logs. The empty string removes a role.
func (c *topicChange) setFeedback(name, value string) error {
	isRate := strings.HasSuffix(name, feedbackRate)
	switch rate, err := strconv.ParseUint(value, 10, 8); {
	case isRate && (err != nil || rate > 100):
		return c.wrong(name, service.Shorten(value)+" value provided is not an integer between 0-100")
	case value == "":
		c.attrs.Feedback = maps.Clone(c.attrs.Feedback)
		delete(c.attrs.Feedback, name)
		return nil
	case !isRate && !roleARN.MatchString(value):
		return c.wrong(name, "Must be the ARN of a role.")
	}
	c.attrs.Feedback = maps.Clone(c.attrs.Feedback)
	if c.attrs.Feedback == nil {
		c.attrs.Feedback = make(map[string]string)
	}
	c.attrs.Feedback[name] = value
	return nil
}

var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`)
