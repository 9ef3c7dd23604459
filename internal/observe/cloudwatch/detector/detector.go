package detector

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Detector is an anomaly detector. It is immutable.
type Detector struct {
	series.Scope
	Subject
	Created  time.Time
	Excluded []Range `json:",omitempty"` // from learning
	Timezone string  `json:",omitempty"` // in which the metric has its daily rhythm
	// The following fields are as the client gave them.
	AdaptationSpeed          string `json:",omitempty"`
	OutlierFilteringStrength string `json:",omitempty"`
	PeriodicSpikes           *bool  `json:",omitempty"`

	id   string // of a stored one
	size int    // of its record, in bytes
}

// Subject is what a detector learns from: a statistic of a metric, without a period, or else the result of an
// expression.
type Subject struct {
	Metric  *metricdata.Stat   `json:",omitempty"`
	Queries []metricdata.Query `json:",omitempty"`
}

// Range is a range of times.
type Range struct{ From, To time.Time }

// ID returns the id of the detector of a subject. The order of dimensions does not matter.
func (s *Subject) ID() string {
	subject := *s
	if s.Metric != nil {
		metric := *s.Metric
		metric.Dimensions = slices.Clone(metric.Dimensions)
		slices.SortFunc(metric.Dimensions, func(a, b series.Dimension) int { return strings.Compare(a.Name, b.Name) })
		subject.Metric = &metric
	}
	sum := sha256.Sum256(control.Encode(subject))
	return hex.EncodeToString(sum[:16])
}

// ID is the id of the detector's subject. For a stored detector this takes no time.
func (d *Detector) ID() string {
	if d.id != "" {
		return d.id
	}
	return d.Subject.ID()
}

// Key returns the key of the detector.
func (d *Detector) Key() Key { return Key{d.Scope, d.ID()} }

// Order is a text by which detectors are sorted: by metric, and then by id.
func (d *Detector) Order() string {
	if d.Metric == nil {
		return "\x01\x01" + d.ID()
	}
	return d.Metric.Namespace + "\x01" + d.Metric.Metric + "\x01" + d.ID()
}

// Key identifies a detector.
type Key struct {
	series.Scope
	ID string
}

func (k Key) compare(o Key) int { return cmp.Or(k.Scope.Compare(o.Scope), strings.Compare(k.ID, o.ID)) }

func (k Key) text() string { return k.Account + "/" + k.Region + "/" + k.ID }

func parseKey(text string) (Key, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return Key{}, control.ErrUnknown
	}
	return Key{series.Scope{Account: parts[0], Region: parts[1]}, parts[2]}, nil
}

func read(k Key, value []byte) (*Detector, error) {
	d := new(Detector)
	if err := json.Unmarshal(value, d); err != nil {
		return nil, err
	}
	if d.Key() != k {
		return nil, errOtherKey
	}
	d.id, d.size = k.ID, len(value)
	return d, nil
}
