package series

import (
	"reflect"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

func queueSeries(metric, name string) ID {
	return ID{
		Scope: Scope{"000000000000", "us-east-1"}, Namespace: SQS, Metric: metric,
		Dimensions: []Dimension{{QueueName, name}},
	}
}

func TestPointsMerge(t *testing.T) {
	p := Sample(minute(0), 3).Merge(Sample(minute(1), -1)).Merge(Point{})
	if want := (Point{Time: minute(0), Count: 2, Sum: 2, Min: -1, Max: 3}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	if p := (Point{Time: minute(5)}).Merge(Sample(minute(1), 7)); p != Sample(minute(5), 7) {
		t.Errorf("%+v", p)
	}
	if a := p.Average(); a != 1 {
		t.Errorf("average %v", a)
	}
	if a := (Point{}).Average(); a != 0 {
		t.Errorf("average of nothing is %v", a)
	}
}

func TestMemory(t *testing.T) {
	var m Memory
	orders, bills := queueSeries("NumberOfMessagesSent", "orders"), queueSeries("NumberOfMessagesSent", "bills")
	for n := range 6 {
		m.Add(orders, Sample(minute(n), float64(n)))
	}
	m.Add(orders, Sample(minute(8), 8))
	m.Add(bills, Sample(minute(-600), 1))
	read := func(id ID, from, to int, period time.Duration) []Point {
		t.Helper()
		points, err := m.Read(t.Context(), id, minute(from).Add(30*time.Second), minute(to), period)
		if err != nil {
			t.Fatal(err)
		}
		return points
	}
	// Periods begin where the caller begins.
	want := []Point{
		{Time: minute(1), Count: 2, Sum: 3, Min: 1, Max: 2}, {Time: minute(3), Count: 2, Sum: 7, Min: 3, Max: 4},
		Sample(minute(5), 5),
	}
	if got := read(orders, 1, 8, 2*time.Minute); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := read(queueSeries("NumberOfMessagesSent", "none"), 0, 8, time.Minute); got != nil {
		t.Errorf("%v of a queue that never existed", got)
	}
	list := func(f Filter) []ID {
		t.Helper()
		f.Scope = orders.Scope
		ids, err := m.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	for _, c := range []struct {
		f    Filter
		want []ID
	}{
		{Filter{}, []ID{bills, orders}},
		{Filter{Since: minute(-180)}, []ID{orders}},
		{Filter{Namespace: SNS}, nil},
		{Filter{Metric: "NumberOfMessagesSent", Dimensions: []Dimension{{QueueName, ""}}}, []ID{bills, orders}},
		{Filter{Dimensions: []Dimension{{QueueName, "bills"}}}, []ID{bills}},
		{Filter{Dimensions: []Dimension{{TopicName, ""}}}, nil},
	} {
		if got := list(c.f); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		age  time.Duration
		step time.Duration
		ok   bool
	}{
		{time.Hour, Minute, true}, {15 * day, Minute, true}, {16 * day, 5 * Minute, true},
		{64 * day, time.Hour, true}, {456 * day, 0, false},
	} {
		if l, ok := Default.At(c.age); l.Step != c.step || ok != c.ok {
			t.Errorf("%v: %v, %v", c.age, l.Step, ok)
		}
	}
}

func TestMetricsAreKnownByName(t *testing.T) {
	for _, namespace := range []string{SQS, SNS, Own} {
		all := Metrics(namespace)
		if len(all) == 0 {
			t.Errorf("%s has no metrics", namespace)
		}
		for _, m := range all {
			if got, ok := Find(namespace, m.Name); !ok || got != m {
				t.Errorf("%s %s: %+v, %t", namespace, m.Name, got, ok)
			}
		}
	}
	if _, ok := Find("AWS/EC2", "CPUUtilization"); ok {
		t.Error("a metric of EC2 is listed")
	}
}
