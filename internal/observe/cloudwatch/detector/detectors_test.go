package detector_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

var (
	here  = series.Scope{Account: "111122223333", Region: "us-east-1"}
	start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

// open returns detectors in a store in memory, and a function that opens them again.
func open(t *testing.T, f control.Formats) (*detector.Detectors, *store.Store, func() *detector.Detectors) {
	t.Helper()
	s := storetest.Memory(t)
	again := func() *detector.Detectors {
		d, err := detector.Open(control.New(control.Options{Store: s}), f)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return again(), s, again
}

// of returns a detector of a metric.
func of(metric string, dimensions ...series.Dimension) *detector.Detector {
	return &detector.Detector{Scope: here, Created: start, Subject: detector.Subject{
		Metric: &metricdata.Stat{Namespace: "n", Metric: metric, Dimensions: dimensions, Statistic: "Sum"},
	}}
}

// A detector keeps its id and the time of its creation when its configuration is replaced, and survives a restart.
func TestDetectors(t *testing.T) {
	t.Parallel()
	d, s, again := open(t, control.Formats{})
	put := func(is *detector.Detector) {
		t.Helper()
		if err := d.Put(t.Context(), is); err != nil {
			t.Fatal(err)
		}
	}
	a, b := series.Dimension{Name: "a", Value: "1"}, series.Dimension{Name: "b", Value: "2"}
	put(of("m", a, b))
	put(of("l"))
	other := of("m", b, a)
	other.Created, other.Timezone = start.Add(time.Hour), "Europe/Berlin"
	put(other)
	for _, d := range []*detector.Detectors{d, again()} {
		all := d.In(here)
		if len(all) != 2 || all[0].Metric.Metric != "l" || all[1].Timezone != "Europe/Berlin" ||
			!all[1].Created.Equal(start) {
			t.Errorf("there are %v", all)
		}
	}
	if problems, err := detector.Check(s); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	if err := d.Delete(t.Context(), other.Key()); err != nil || d.Get(other.Key()) != nil {
		t.Error(err)
	}
	if err := d.Delete(t.Context(), other.Key()); !errors.Is(err, detector.ErrNotFound) {
		t.Error(err)
	}
	if all := again().In(here); len(all) != 1 {
		t.Errorf("there are %v", all)
	}
}

// An account has a limited number of detectors in a region. Existing ones can still be changed.
func TestMostDetectors(t *testing.T) {
	t.Parallel()
	d, _, _ := open(t, control.Formats{})
	for i := range detector.Quota.Region {
		if err := d.Put(t.Context(), of(fmt.Sprint("m", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Put(t.Context(), of("m")); !errors.Is(err, series.QuotaError{Quota: detector.Quota}) {
		t.Error(err)
	}
	if err := d.Put(t.Context(), of("m7")); err != nil {
		t.Error(err)
	}
	elsewhere := of("m")
	elsewhere.Region = "eu-west-1"
	if err := d.Put(t.Context(), elsewhere); err != nil {
		t.Error(err)
	}
	for i := range detector.Quota.Account - detector.Quota.Region {
		elsewhere = of("m")
		elsewhere.Region = fmt.Sprint("made-up-", i)
		if err := d.Put(t.Context(), elsewhere); (err == nil) != (i < detector.Quota.Account-detector.Quota.Region-1) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	elsewhere.Account = "444455556666"
	if err := d.Put(t.Context(), elsewhere); err != nil {
		t.Error(err)
	}
}

// No detector is stored until all programs can read it, and the data directory then has the format.
func TestFormatOfDetectors(t *testing.T) {
	t.Parallel()
	notYet := errors.New("a node cannot read that")
	required := 0
	f := control.Formats{
		Ready:   func(int) error { return notYet },
		Require: func(format int) error { required = format; return nil },
	}
	d, _, _ := open(t, f)
	if err := d.Put(t.Context(), of("m")); !errors.Is(err, notYet) || len(d.In(here)) > 0 || required != 0 {
		t.Errorf("%v, format %d", err, required)
	}
	f.Ready = func(int) error { return nil }
	d, _, _ = open(t, f)
	if err := d.Put(t.Context(), of("m")); err != nil || required != formats.Detectors {
		t.Errorf("%v, format %d", err, required)
	}
}

// The check of a data directory finds a record under the key of another.
func TestCheckFindsOtherKey(t *testing.T) {
	t.Parallel()
	_, s, _ := open(t, control.Formats{})
	ctl := control.New(control.Options{Store: s})
	if err := ctl.Change(t.Context(), func(tx *control.Tx) error {
		tx.Put(detector.Prefix+here.Account+"/"+here.Region+"/0", control.Encode(of("m")))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if problems, err := detector.Check(s); err != nil || len(problems) != 1 {
		t.Errorf("%v %v", problems, err)
	}
}
