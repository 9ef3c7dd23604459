package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/scripts/svg"
)

// chart is one panel of the picture: lines over common axes, each with its name
// at its end.
type chart struct {
	title, note string
	x, y        axis
	lines       []line
}

// line is a curve. Its class names a rule of the style sheet: a, b or faint.
type line struct {
	name, class string
	dots        []dot
}

// Distances within a panel, in pixels.
const (
	panelWidth  = 444
	panelHeight = 280
	frameLeft   = 58
	frameRight  = panelWidth - 92 // room for the names of the lines
	frameTop    = 60
	frameBottom = panelHeight - 46
	lineHeight  = 15
)

// draw draws the chart into a group, whose coordinates are the panel's.
func (c *chart) draw(s *svg.Picture) {
	s.Text(0, 16, "title", "", c.title)
	s.Text(0, 35, "", "", c.note)
	xs := positions(c.lines)
	if len(xs) == 0 {
		s.Text((frameLeft+frameRight)/2, (frameTop+frameBottom)/2, "", "middle", "not measured")
		return
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range c.lines {
		for _, d := range l.dots {
			low, high = min(low, d.low), max(high, d.high)
		}
	}
	if c.y.log {
		low = max(low, 1e-6) // nothing takes no time
		high = max(low, high)
	}
	ticks := c.y.roundTicks(low, high)
	x := scale{low: xs[0], high: xs[len(xs)-1], a: frameLeft + 8, b: frameRight - 8, log: c.x.log}
	y := scale{low: ticks[0], high: ticks[len(ticks)-1], a: frameBottom, b: frameTop, log: c.y.log}

	var grid strings.Builder
	for _, t := range ticks {
		fmt.Fprintf(&grid, "M%s %sH%d", svg.Num(frameLeft), svg.Num(y.at(t)), frameRight)
		s.Text(frameLeft-8, y.at(t)+4, "", "end", c.y.text(t))
	}
	s.Path("grid", grid.String())
	grid.Reset()
	for _, t := range xs {
		fmt.Fprintf(&grid, "M%s %dv4", svg.Num(x.at(t)), frameBottom)
		s.Text(x.at(t), frameBottom+18, "", "middle", c.x.text(t))
	}
	s.Path("axis", fmt.Sprintf("M%d %dH%d", frameLeft, frameBottom, frameRight)+grid.String())
	s.Text((frameLeft+frameRight)/2, frameBottom+36, "", "middle", c.x.name)

	for _, l := range c.lines {
		l.draw(s, x, y)
	}
	c.names(s, y)
}

func (l *line) draw(s *svg.Picture, x, y scale) {
	var curve, spread strings.Builder
	for i, d := range l.dots {
		command := 'L'
		if i == 0 {
			command = 'M'
		}
		fmt.Fprintf(&curve, "%c%s %s", command, svg.Num(x.at(d.x)), svg.Num(y.at(max(d.y, y.low))))
		if d.low < d.high {
			fmt.Fprintf(&spread, "M%s %sV%s", svg.Num(x.at(d.x)), svg.Num(y.at(max(d.low, y.low))), svg.Num(y.at(d.high)))
		}
	}
	if spread.Len() > 0 {
		s.Path("spread "+l.class, spread.String())
	}
	if len(l.dots) > 1 {
		s.Path(l.class, curve.String())
	}
	for i, d := range l.dots {
		if l.class != "faint" {
			s.Dot(x.at(d.x), y.at(max(d.y, y.low)), l.class)
		}
		if d.note != "" {
			above := -8.0
			if i+1 < len(l.dots) && l.dots[i+1].y > d.y {
				above = 16 // the curve goes where the note would be
			}
			s.Text(x.at(d.x)+5, y.at(max(d.y, y.low))+above, "note "+l.class, "", d.note)
		}
	}
}

// names writes the lines' names beside their ends, one below the other where
// these are close.
func (c *chart) names(s *svg.Picture, y scale) {
	type name struct {
		line
		y float64
	}
	var names []name
	for _, l := range c.lines {
		if n := len(l.dots); n > 0 && l.name != "" {
			names = append(names, name{l, y.at(max(l.dots[n-1].y, y.low)) + 4})
		}
	}
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(a.y, b.y) })
	for i := 1; i < len(names); i++ {
		names[i].y = max(names[i].y, names[i-1].y+lineHeight)
	}
	for i, below := len(names)-1, float64(frameBottom+lineHeight); i >= 0; i-- {
		names[i].y = min(names[i].y, below-lineHeight)
		below = names[i].y
	}
	for _, n := range names {
		s.Text(frameRight+2, n.y, n.class, "", n.name)
	}
}
