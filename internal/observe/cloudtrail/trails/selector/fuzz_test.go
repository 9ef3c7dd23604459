package selector_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/selector"
)

// Stored selectors are read as they were written, and selectors that pass the check select events by their rules, for
// all events.
func FuzzSet(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"Basic":[{"ReadWrite":"WriteOnly","NoManagement":true,"ExcludeSources":["kms.amazonaws.com"]}]}`,
		`{"Advanced":[{"Name":"n","Fields":[{"Name":"eventCategory","Equals":["Data"]},{"Name":"resources.type","Equals":["AWS::SQS::Queue"]},{"Name":"resources.ARN","StartsWith":["arn:"],"NotEndsWith":["x"]}]}]}`,
		`{"Advanced":[{"Fields":[{"Name":"eventCategory","Equals":["Management"]},{"Name":"readOnly","Equals":["true"]}]}]}`,
		`{"Basic":[{}],"Advanced":[{}]}`, `{"Advanced":[{"Fields":[{"Name":"eventCategory","NotEquals":["Data"]}]}]}`,
	} {
		f.Add(text, "Data", "SendMessage", "arn:aws:sqs:us-east-1:111122223333:x", false)
	}
	f.Fuzz(func(t *testing.T, text, category, name, arn string, readOnly bool) {
		var s selector.Set
		if json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		if s.Check() != nil {
			return
		}
		stored, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var again selector.Set
		if err := json.Unmarshal(stored, &again); err != nil || again.Check() != nil {
			t.Fatalf("%s: %v, %v", stored, err, again.Check())
		}
		twice, err := json.Marshal(again)
		if err != nil || string(twice) != string(stored) || again.TakesData() != s.TakesData() ||
			again.Empty() != s.Empty() {
			t.Errorf("%s is stored as %s", stored, twice)
		}
		e := &trail.Event{
			EventCategory: category, EventName: name, ReadOnly: readOnly, EventSource: "sqs.amazonaws.com",
		}
		if arn != "" {
			e.Resources = []trail.Resource{{Type: "AWS::SQS::Queue", ARN: arn}}
		}
		before, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		takes := s.Take(e)
		after, err := json.Marshal(e)
		if err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("the event has changed: %s", after)
		}
		switch {
		case takes != again.Take(e):
			t.Errorf("%s selects the event %t before it is stored", text, takes)
		case takes && category != selector.Management && !s.TakesData():
			t.Errorf("%s selects an event of the category %q", text, category)
		}
	})
}
