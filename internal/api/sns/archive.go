package sns

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/topic"
)

// The policies about the archive of a FIFO topic. The server stores and shows them, but does not archive messages, so a
// replay fails.

const (
	attrArchiveBegin = "BeginningArchiveTime"
	attrReplayStatus = "ReplayStatus"
)

// maxArchiveDays is the longest retention of an archive.
const maxArchiveDays = 365

// milliseconds is the form of the times in attributes.
const milliseconds = "2006-01-02T15:04:05.000Z"

// setArchive sets the ArchivePolicy of a FIFO topic. The empty object removes it. AWS refuses the empty string.
func (c *topicChange) setArchive(value string) error {
	a := c.attrs
	switch days, wrong := parseArchive(value); {
	case wrong != "":
		return c.wrong(attrArchive, wrong)
	case days == 0:
		a.ArchiveDays, a.ArchivedSince = 0, time.Time{}
	case !c.name.FIFO():
		return c.wrong(attrArchive, "You can specify it only when FifoTopic is set to true.")
	default:
		if a.ArchiveDays == 0 {
			a.ArchivedSince = c.now
		}
		a.ArchiveDays = days
	}
	return nil
}

// archivePolicy is an ArchivePolicy. The days may be a number or a string.
type archivePolicy struct {
	MessageRetentionPeriod json.RawMessage
}

// parseArchive returns the days of an ArchivePolicy, or 0 if it requests no archive, or the reason why it is invalid.
func parseArchive(value string) (days int, wrong string) {
	var p archivePolicy
	switch {
	case !onlyMembers(value, &p):
		return 0, noPolicy
	case p.MessageRetentionPeriod == nil:
		return 0, ""
	}
	text := string(p.MessageRetentionPeriod)
	_ = json.Unmarshal(p.MessageRetentionPeriod, &text) // a number stays as written
	days, err := strconv.Atoi(text)
	if err != nil || days < 1 || days > maxArchiveDays {
		return 0, fmt.Sprintf("MessageRetentionPeriod must be a whole number from 1 to %d.", maxArchiveDays)
	}
	return days, ""
}

// describeArchive adds the ArchivePolicy, and since when there are archived messages, to the attributes of a topic.
func describeArchive(out map[string]string, a *topic.Attributes, now time.Time) {
	if a.ArchiveDays == 0 {
		return
	}
	begins := a.ArchivedSince
	if oldest := now.AddDate(0, 0, -a.ArchiveDays); begins.Before(oldest) {
		begins = oldest
	}
	out[attrArchive] = fmt.Sprintf(`{"MessageRetentionPeriod":"%d"}`, a.ArchiveDays)
	out[attrArchiveBegin] = begins.UTC().Format(milliseconds)
}

// noPolicy is the reason for a text that is not the JSON of such a policy.
const noPolicy = "failed to parse JSON."

// maxPolicy is how long such a policy can be, in bytes. It has few and short members.
const maxPolicy = 1024

// setReplay sets the ReplayPolicy of a subscription of a FIFO topic. The empty string and the empty object remove it.
func (c *subscriptionChange) setReplay(value string) error {
	switch active, wrong := parseReplay(value); {
	case wrong != "":
		return c.wrong(attrReplay, wrong)
	case !active:
		value = ""
	case !c.sub.Topic.FIFO():
		return c.wrong(attrReplay, "You can specify it only for a FIFO topic.")
	}
	c.sub.Attributes.Replay = value
	return nil
}

// replayPolicy is a ReplayPolicy.
type replayPolicy struct{ PointType, StartingPoint, EndingPoint string }

// parseReplay reports whether a ReplayPolicy requests a replay, or the reason why it is invalid.
func parseReplay(value string) (active bool, wrong string) {
	var p replayPolicy
	switch {
	case value == "":
		return false, ""
	case !onlyMembers(value, &p):
		return false, noPolicy
	case p == (replayPolicy{}):
		return false, ""
	case p.PointType != "Timestamp":
		return false, "PointType must be Timestamp."
	}
	from, err := time.Parse(time.RFC3339, p.StartingPoint)
	if err != nil {
		return false, "StartingPoint must be a time, such as 2026-01-31T12:00:00.000Z."
	}
	if p.EndingPoint == "" {
		return true, ""
	}
	if to, err := time.Parse(time.RFC3339, p.EndingPoint); err != nil || !to.After(from) {
		return false, "EndingPoint must be a time after StartingPoint."
	}
	return true, ""
}

// onlyMembers decodes a JSON object. It reports whether the text is one, not too long and without other members than
// those of a struct.
func onlyMembers(value string, into any) bool {
	if len(value) > maxPolicy {
		return false
	}
	value = strings.TrimSpace(value)
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	return strings.HasPrefix(value, "{") && json.Valid([]byte(value)) && d.Decode(into) == nil
}
