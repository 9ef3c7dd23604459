package main

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/bench"
)

// Names of the series, as in curves.json.
const (
	sendSeries    = "send"         // single sends, against connections
	tensSeries    = "send tens"    // sends of ten messages, against connections
	batchSeries   = "batch"        // sends, against the messages in a call
	backlogSeries = "backlog"      // receives and deletes, against the messages waiting
	fifoSeries    = "backlog FIFO" // the same of a FIFO queue
	sizeSeries    = "size"         // all three, against the bytes of a message
)

// seriesOf is a number of loads that differ in one thing.
type seriesOf struct {
	name    string
	points  []int                    // what differs
	load    func(x int) bench.Config // Duration is the meter's
	ceiling bool                     // measure an empty handler beside it
}

// plan lists everything to measure.
func plan(backlogs []int) []seriesOf {
	connections := []int{1, 4, 16, 64, 256}
	sending := func(producers, batch int) bench.Config {
		return bench.Config{Producers: producers, Batch: batch, Size: 1024}
	}
	// One producer, because a queue in use has one; with it, bench distributes the backlog to all groups.
	waiting := func(x int) bench.Config {
		return bench.Config{Producers: 1, Consumers: 16, Batch: 10, Size: 1024, Groups: 64, Backlog: x}
	}
	return []seriesOf{
		{name: sendSeries, points: connections, ceiling: true,
			load: func(x int) bench.Config { return sending(x, 1) }},
		{name: tensSeries, points: connections,
			load: func(x int) bench.Config { return sending(x, 10) }},
		{name: batchSeries, points: []int{1, 2, 5, 10},
			load: func(x int) bench.Config { return sending(16, x) }},
		{name: backlogSeries, points: backlogs, load: waiting},
		{name: fifoSeries, points: backlogs, load: func(x int) bench.Config {
			c := waiting(x)
			c.FIFO = true
			return c
		}},
		{name: sizeSeries, points: []int{100, 1 << 10, 10 << 10, 64 << 10}, load: func(x int) bench.Config {
			return bench.Config{Producers: 16, Consumers: 32, Batch: 10, Size: x}
		}},
	}
}

// flagsOf returns the flags of a load for "sluice bench".
func flagsOf(c bench.Config, ceiling bool) []string {
	flags := []string{
		fmt.Sprint("--producers=", c.Producers), fmt.Sprint("--consumers=", c.Consumers),
		fmt.Sprint("--batch=", c.Batch), fmt.Sprint("--size=", c.Size), fmt.Sprint("--duration=", c.Duration),
	}
	if c.FIFO {
		flags = append(flags, "--fifo", fmt.Sprint("--groups=", c.Groups))
	}
	if c.Backlog > 0 {
		flags = append(flags, fmt.Sprint("--backlog=", c.Backlog))
	}
	if ceiling {
		flags = append(flags, "--ceiling")
	}
	return flags
}
