package declared

import (
	"cmp"
	"testing"

	"github.com/sluicemq/sluice/internal/topic/filter"
)

// filterState is the filter of a subscription.
type filterState struct{ policy, scope string }

func (f filterState) parse(t *testing.T) *filter.Policy {
	t.Helper()
	scope := filter.MessageAttributes
	if f.scope == "MessageBody" {
		scope = filter.MessageBody
	}
	p, err := filter.Parse(cmp.Or(f.policy, "{}"), scope)
	if err != nil {
		t.Errorf("%v is refused: %v", f, err)
		return &filter.Policy{}
	}
	return p
}

func (f filterState) changedTo(a attribute) filterState {
	if a.name == filterPolicy {
		f.policy = a.value
	} else {
		f.scope = a.value
	}
	return f
}

// Any filter can become any other in steps that SNS accepts. In between, no message passes that passes neither before
// nor after.
func TestFilterSteps(t *testing.T) {
	t.Parallel()
	var states []filterState
	for _, policy := range []string{
		"", `{"a":["x"]}`, `{"a":["y"],"b":[{"exists":false}]}`, `{"$or":[{"a":["x"]},{"b":["y"]}]}`,
		`{"b":[{"anything-but":["x"]}]}`,
	} {
		states = append(states, filterState{policy, "MessageAttributes"}, filterState{policy, "MessageBody"})
	}
	states = append(states, filterState{`{"a":{"b":["x"]}}`, "MessageBody"},
		filterState{`{"b":["y"],"a":{"b":[{"exists":false}]}}`, "MessageBody"})
	for _, was := range states {
		for _, is := range states {
			testFilterSteps(t, was, is)
		}
	}
}

func testFilterSteps(t *testing.T, was, is filterState) {
	attributes := make(map[string]string)
	if was.policy != is.policy {
		attributes[filterPolicy] = is.policy
	}
	if was.scope != is.scope {
		attributes[filterScope] = is.scope
	}
	before, after := was.parse(t), is.parse(t)
	now := was
	for _, step := range filterSteps(Settings{"filter": was.policy, "filter-scope": was.scope}, attributes) {
		now = now.changedTo(step)
		between := now.parse(t)
		for _, m := range messages() {
			if between.Matches(m) && !before.Matches(m) && !after.Matches(m) {
				t.Errorf("from %v to %v: %v lets %v through", was, is, now, m)
			}
		}
	}
	if now != is {
		t.Errorf("from %v to %v ends with %v", was, is, now)
	}
}

// messages returns messages with all attributes and bodies that the policies distinguish.
func messages() (out []*filter.Message) {
	for _, a := range []string{"", "x", "y"} {
		for _, b := range []string{"", "x", "y"} {
			var attributes []filter.Attribute
			if a != "" {
				attributes = append(attributes, filter.Attribute{Name: "a", Type: "String", Value: a})
			}
			if b != "" {
				attributes = append(attributes, filter.Attribute{Name: "b", Type: "String", Value: b})
			}
			for _, body := range []string{
				"no JSON", `{}`, `{"a":"x"}`, `{"b":"y"}`, `{"a":"y","b":"x"}`, `{"a":{"b":"x"}}`,
				`{"a":{"c":"x"},"b":"y"}`,
			} {
				out = append(out, filter.NewMessage(body, attributes))
			}
		}
	}
	return out
}
