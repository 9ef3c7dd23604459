package topic

import (
	"testing"

	"github.com/sluicemq/sluice/internal/topic/filter"
)

// A policy that an earlier version accepted still filters after an upgrade: that version took every list behind $or for
// a list of alternatives.
func TestPolicyOfAnEarlierVersion(t *testing.T) {
	all := unstored()
	s := Subscription{ID: "1", Topic: Name{mine, "us-east-1", "news"}, Owner: mine, Protocol: SQS}
	s.Attributes.Filter = `{"$or": [{"prefix": ["x"]}, {"b": ["y"]}]}`
	all.apply(t, subsTable.KeyOf(s.ID), s)
	for a, want := range map[filter.Attribute]bool{
		{Name: "prefix", Type: "String", Value: "x"}: true, {Name: "b", Type: "String", Value: "x"}: false,
	} {
		got, err := all.Subscription("1").Wants(filter.NewMessage("", []filter.Attribute{a}))
		if err != nil || got != want {
			t.Errorf("%v: %v, %v", a, got, err)
		}
	}
	if _, err := s.Attributes.ParseFilter(); err == nil {
		t.Error("a new policy is accepted")
	}
}
