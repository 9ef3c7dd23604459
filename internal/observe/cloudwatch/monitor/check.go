package monitor

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
	"github.com/sluicemq/sluice/internal/store"
)

// Counts is the number of records of each kind.
type Counts struct{ Alarms, Dashboards, Metrics, Items int }

// Check reads the records without changing anything. It returns their numbers and a list of inconsistencies. An error
// means that the store cannot be read.
func Check(s *store.Store) (n Counts, problems []string, err error) {
	r, kinds := newRecords()
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	err = control.Records(s, Prefix, func(key string, value []byte) bool {
		switch {
		case strings.HasPrefix(key, keyHistory):
			n.Items++
			want(json.Unmarshal(value, new(Item)) == nil, "record %q: an item of history cannot be read", key)
		case strings.HasPrefix(key, keySketches):
			_, bad := sketch.Decode(value)
			want(bad == nil, "record %q: %v", key, bad)
		case strings.HasPrefix(key, keyPoints):
			length := time.Hour
			if strings.HasPrefix(key, keySeconds) {
				length = series.Minute
			}
			_, bad := decodeKey(key, length, value)
			want(bad == nil, "record %q: %v", key, bad)
		default:
			bad := kinds.Put(key, value)
			want(bad == nil, "record %v", bad)
		}
		return true
	})
	if err != nil {
		return n, problems, fmt.Errorf("check alarms: %w", err)
	}
	for name, a := range r.alarms {
		bad := a.check()
		want(bad == nil, "alarm %s: %v", name.ARN(), bad)
	}
	n.Alarms, n.Dashboards, n.Metrics = len(r.alarms), len(r.dashboards), len(r.metrics)
	return n, problems, nil
}

// check returns why an alarm cannot be evaluated.
func (a *Alarm) check() error {
	if a.Composite != nil {
		return a.Composite.read(a.Scope)
	}
	_, err := a.Plan()
	return err
}
