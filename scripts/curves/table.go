package main

import (
	"fmt"
	"io"
	"strings"
)

// writeTable writes the results as a table in Markdown.
func writeTable(w io.Writer, r *Results) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Each point %s%s.\n\n", r.Machine, r.Duration, medians(r.Rounds))
	fmt.Fprintln(&b, "| load | messages/s | of an empty handler | p50 | p99 | peak memory | disk syncs/s |")
	fmt.Fprintln(&b, "|---|---|---|---|---|---|---|")
	for _, s := range []struct {
		name, load string
		x          func(float64) string
		call       string // whose latency is given
	}{
		{sendSeries, "`SendMessage`, connections: %s", short, "SendMessage"},
		{tensSeries, "`SendMessageBatch` of 10, connections: %s", short, "SendMessageBatch"},
		{batchSeries, "16 connections send, messages in a call: %s", short, ""},
		{backlogSeries, "`ReceiveMessage`, `DeleteMessageBatch`, waiting: %s", short, "ReceiveMessage"},
		{fifoSeries, "the same, FIFO with 64 groups, waiting: %s", short, "ReceiveMessage"},
		{sizeSeries, "16 producers, 32 consumers, tens, of %s each", bytesText, "SendMessageBatch"},
	} {
		half := r.curve(s.name, callTime(s.call, .5))
		most := r.curve(s.name, callTime(s.call, .99))
		ceilings, peaks, disk := r.curve(s.name, ratio), r.curve(s.name, memory), r.curve(s.name, syncs)
		for _, d := range r.curve(s.name, rate) {
			fmt.Fprintf(&b, "| "+s.load+" | %s | %s | %s | %s | %s | %s |\n", s.x(d.x), spread(d, thousands),
				cell(ceilings, d.x, func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }),
				cell(half, d.x, roundMilliseconds), cell(most, d.x, roundMilliseconds),
				cell(peaks, d.x, mebibytes), cell(disk, d.x, func(v float64) string {
					return thousands(significant(v))
				}))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// callTime is how long the calls of an operation took, or without one those of
// the first that was made.
func callTime(operation string, quantile float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		name := operation
		if name == "" && len(r.Reports) > 0 && len(r.Reports[0].Calls) > 0 {
			name = r.Reports[0].Calls[0].Operation
		}
		return milliseconds(name, quantile)(r)
	}
}

func roundMilliseconds(v float64) string { return millisecondsText(significant(v)) }

// cell returns what dots have at x, if anything.
func cell(dots []dot, x float64, text func(float64) string) string {
	for _, d := range dots {
		if d.x == x {
			return text(d.y)
		}
	}
	return ""
}

// spread is a median with the least and the greatest that went into it.
func spread(d dot, text func(float64) string) string {
	if d.low == d.high {
		return text(significant(d.y))
	}
	return fmt.Sprintf("%s (%s to %s)", text(significant(d.y)), text(significant(d.low)), text(significant(d.high)))
}
