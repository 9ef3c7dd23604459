package queue

import (
	"fmt"
	"testing"
)

// Standings of topics count events since the engine was loaded, across the ends of minutes, for a bounded number of
// topics.
func TestTopicStandings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.keep = DefaultKeep
	r.reload()
	publish := func(topic string) {
		t.Helper()
		err := r.do(func(e *Engine) error {
			return e.CountTopic(&TopicCount{
				Topic:  topic,
				Counts: [TopicMetrics]uint64{TopicPublished: 1, TopicPublishedBytes: 5, TopicDelivered: 2},
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	told := func() map[string]uint64 {
		out := make(map[string]uint64)
		for _, s := range r.engine.TopicStandings() {
			out[s.ARN] = s.Happened[TopicDelivered]
		}
		return out
	}
	publish("news")
	r.advance(activeAfterCall.Sub(0))
	publish("news")
	publish("bills")
	if got := fmt.Sprint(told()); got != "map[bills:2 news:4]" {
		t.Errorf("the standings are %s", got)
	}
	for n := range maxTopicCounters {
		r.engine.topics.total(&TopicCount{Topic: fmt.Sprint("t", n)})
	}
	publish("late")
	publish("news")
	if got := told(); len(got) != maxTopicCounters || got["news"] != 6 || got["late"] != 0 {
		t.Errorf("%d topics have standings, news has %d", len(got), got["news"])
	}
	r.reload()
	if got := told(); len(got) > 0 {
		t.Errorf("after a restart the standings are %v", got)
	}
}
