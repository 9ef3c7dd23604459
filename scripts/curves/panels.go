package main

import (
	"fmt"
	"math"
)

// panels are the charts of the picture. Their titles summarize the results; a panel without results has a neutral
// title.
func panels(r *Results) []chart {
	return []chart{
		connectionsPanel(r), latencyPanel(r),
		batchPanel(r), sizePanel(r),
		backlogPanel(r), memoryPanel(r),
	}
}

func connectionsPanel(r *Results) chart {
	single, tens := r.curve(sendSeries, rate), r.curve(tensSeries, rate)
	c := chart{
		title: "Throughput against connections",
		note:  "messages of 1 KiB sent per second; empty handler: calls per second",
		x:     axis{name: "connections", log: true, text: short},
		y:     axis{text: short},
		lines: []line{
			{"empty handler", "faint", r.curve(sendSeries, ceiling)}, {"ten a call", "a", tens},
			{"one a call", "b", single},
		},
	}
	if len(single) > 0 && len(tens) > 0 {
		c.title = fmt.Sprintf("Up to %s messages/s in tens, %s one by one",
			thousands(significant(highest(tens).y)), thousands(significant(highest(single).y)))
	}
	return c
}

func latencyPanel(r *Results) chart {
	half := r.curve(sendSeries, milliseconds("SendMessage", .5))
	most := r.curve(sendSeries, milliseconds("SendMessage", .99))
	c := chart{
		title: "Latency against connections",
		note:  "time of a SendMessage, each connection sending as fast as it can",
		x:     axis{name: "connections", log: true, text: short},
		y:     axis{log: true, text: millisecondsText},
		lines: []line{{"99%", "b", most}, {"half", "a", half}},
	}
	if n := len(half); n > 0 {
		i := n / 2
		c.title = fmt.Sprintf("%s: half within %s ms, 99%% within %s ms", count(int(half[i].x), "connection"),
			plain(significant(half[i].y)), plain(significant(most[i].y)))
	}
	return c
}

func batchPanel(r *Results) chart {
	sent := r.curve(batchSeries, rate)
	c := chart{
		title: "Throughput against batch size",
		note:  "messages of 1 KiB sent per second by 16 connections",
		x:     axis{name: "messages in a call", text: short},
		y:     axis{text: short},
		lines: []line{{"", "a", sent}},
	}
	if n := len(sent); n > 1 && sent[0].y > 0 {
		c.title = fmt.Sprintf("%s messages a call: %s times the throughput of %s",
			short(sent[n-1].x), plain(significant(sent[n-1].y/sent[0].y)), short(sent[0].x))
	}
	return c
}

func sizePanel(r *Results) chart {
	passed := r.curve(sizeSeries, rate)
	most := dot{}
	for i, d := range passed {
		volume := d.x * d.y / 1e6
		if passed[i].note = plain(significant(volume)) + " MB/s"; volume > most.y {
			most = dot{x: d.x, y: volume}
		}
	}
	c := chart{
		title: "Throughput against message size",
		note:  "messages/s sent, received and deleted in tens; 16 producers, 32 consumers",
		x:     axis{name: "size of a message", log: true, text: bytesText},
		y:     axis{text: short},
		lines: []line{{"", "a", passed}},
	}
	if len(passed) > 0 {
		c.title = fmt.Sprintf("Messages of %s: %s MB/s in and out again", bytesText(most.x), plain(significant(most.y)))
	}
	return c
}

func backlogPanel(r *Results) chart {
	standard, fifo := r.curve(backlogSeries, rate), r.curve(fifoSeries, rate)
	c := chart{
		title: "Throughput against the backlog",
		note:  "messages/s received and deleted in tens; 16 consumers, 1 producer",
		x:     axis{name: "messages of 1 KiB waiting; FIFO in 64 groups", log: true, text: short},
		y:     axis{text: short},
		lines: []line{{"standard", "a", standard}, {"FIFO", "b", fifo}},
	}
	if n := len(standard); n > 1 && standard[0].y > 0 {
		c.title = fmt.Sprintf("With %s waiting, %.0f%% of the throughput with %s",
			short(standard[n-1].x), math.Round(100*standard[n-1].y/standard[0].y), short(standard[0].x))
	}
	return c
}

func memoryPanel(r *Results) chart {
	standard, fifo := inMiB(r.curve(backlogSeries, memory)), inMiB(r.curve(fifoSeries, memory))
	c := chart{
		title: "Memory against the backlog",
		note:  "most resident memory of the server while it is filled, loaded and emptied",
		x:     axis{name: "messages of 1 KiB waiting; FIFO in 64 groups", log: true, text: short},
		y:     axis{text: func(v float64) string { return plain(v) + " MiB" }},
		lines: []line{{"standard", "a", standard}, {"FIFO", "b", fifo}},
	}
	if n := len(standard); n > 1 {
		c.title = fmt.Sprintf("%s MiB of memory with %s waiting, %s with %s", plain(significant(standard[n-1].y)),
			short(standard[n-1].x), plain(significant(standard[0].y)), short(standard[0].x))
	}
	return c
}

func inMiB(dots []dot) []dot {
	for i := range dots {
		d := &dots[i]
		d.y, d.low, d.high = d.y/(1<<20), d.low/(1<<20), d.high/(1<<20)
	}
	return dots
}

func highest(dots []dot) (best dot) {
	for _, d := range dots {
		if d.y > best.y {
			best = d
		}
	}
	return best
}
