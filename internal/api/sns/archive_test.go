package sns_test

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A FIFO topic shows its ArchivePolicy and the time since when it has one, and cannot be deleted while it has one.
func TestArchivePolicy(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn := topicARN("a.fifo")
		st.Does("CreateTopic",
			attributes("Name", "a.fifo", "FifoTopic", "true", "ArchivePolicy", `{"MessageRetentionPeriod":"30"}`), arn)
		got := st.Does("GetTopicAttributes", with{"TopicArn", arn},
			entry("ArchivePolicy", `{"MessageRetentionPeriod":"30"}`), "<key>BeginningArchiveTime</key><value>20")
		set := func(value string) with {
			return with{"TopicArn", arn, "AttributeName", "ArchivePolicy", "AttributeValue", value}
		}
		st.Does("SetTopicAttributes", set(` {"MessageRetentionPeriod": 365}`))
		again := st.Does("GetTopicAttributes", with{"TopicArn", arn},
			entry("ArchivePolicy", `{"MessageRetentionPeriod":"365"}`))
		if beginning(again) != beginning(got) {
			t.Errorf("the archive begins at %s, and began at %s", beginning(again), beginning(got))
		}
		for _, value := range []string{"", "[]", `{"Days":1}`, "{" + strings.Repeat(" ", 1024) + "}"} {
			st.Refuses("SetTopicAttributes", set(value), 400, invalid,
				"Invalid parameter: ArchivePolicy: failed to parse JSON.")
		}
		st.Refuses("DeleteTopic", with{"TopicArn", arn}, 400, "InvalidState",
			"Invalid state: Cannot delete a topic with an ArchivePolicy")
		st.Does("SetTopicAttributes", set("{}"))
		if got := st.Does("GetTopicAttributes", with{"TopicArn", arn}); strings.Contains(got, "Archive") {
			t.Errorf("a missing archive: %s", got)
		}
		st.Does("DeleteTopic", with{"TopicArn", arn})
	})
}

func beginning(answer string) string {
	_, after, _ := strings.Cut(answer, "<key>BeginningArchiveTime</key><value>")
	at, _, _ := strings.Cut(after, "<")
	return at
}

// A ReplayPolicy is stored. Nothing is replayed, and the status says so.
func TestReplayPolicy(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		st.Does("CreateTopic",
			attributes("Name", "a.fifo", "FifoTopic", "true", "ArchivePolicy", `{"MessageRetentionPeriod":"30"}`))
		const policy = `{"PointType":"Timestamp","StartingPoint":"2026-01-31T12:00:00.000Z","EndingPoint":"2026-01-31T13:00:00.000Z"}`
		sub := subscription(st, "a.fifo", "q.fifo", "ReplayPolicy", policy)
		st.Does("GetSubscriptionAttributes", sub, entry("ReplayPolicy", policy), entry("ReplayStatus", "Failed"))
		st.Does("SetSubscriptionAttributes", append(sub, "AttributeName", "ReplayPolicy", "AttributeValue", "{}"))
		if got := st.Does("GetSubscriptionAttributes", sub); strings.Contains(got, "Replay") {
			t.Errorf("a missing replay: %s", got)
		}
		st.Refuses("SetSubscriptionAttributes",
			append(sub, "AttributeName", "ReplayPolicy", "AttributeValue", policy+strings.Repeat(" ", 1024)),
			400, invalid, "Invalid parameter: ReplayPolicy: failed to parse JSON.")
		backwards := strings.ReplaceAll(policy, "T13", "T11")
		st.Refuses("SetSubscriptionAttributes",
			append(sub, "AttributeName", "ReplayPolicy", "AttributeValue", backwards), 400, invalid,
			"Invalid parameter: ReplayPolicy: EndingPoint must be a time after StartingPoint.")
	})
}
