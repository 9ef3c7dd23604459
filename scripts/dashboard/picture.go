package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/scripts/svg"
)

// style are the rules for panels and their lines, by turns.
const style = `
.panel{stroke:#d1d9e0;stroke-width:1}
.value{font-size:30px;font-weight:600;fill:#1a7f37}
path.l0{stroke:#1a7f37}path.l1{stroke:#9a6700}path.l2{stroke:#0969da}path.l3{stroke:#bc4c00}path.l4{stroke:#cf222e}path.l5{stroke:#8250df}
text.l0{fill:#1a7f37}text.l1{fill:#9a6700}text.l2{fill:#0969da}text.l3{fill:#bc4c00}text.l4{fill:#cf222e}text.l5{fill:#8250df}
@media(prefers-color-scheme:dark){
.panel{stroke:#3d444d}
.value{fill:#3fb950}
path.l0{stroke:#3fb950}path.l1{stroke:#d29922}path.l2{stroke:#4493f8}path.l3{stroke:#f0883e}path.l4{stroke:#f85149}path.l5{stroke:#ab7df8}
text.l0{fill:#3fb950}text.l1{fill:#d29922}text.l2{fill:#4493f8}text.l3{fill:#f0883e}text.l4{fill:#f85149}text.l5{fill:#ab7df8}
}
`

// Distances, in pixels. Grafana's grid has 24 columns.
const (
	margin    = 24
	header    = 72
	column    = 40
	row       = 26
	inset     = 8
	classes   = 6
	mostNames = 6
)

func draw(shown *Shown) []byte {
	bottom := 0
	for _, p := range shown.Panels {
		bottom = max(bottom, p.Y+p.H)
	}
	s := svg.New(
		2*margin+24*column, header+bottom*row+margin, "Sluice's Grafana dashboard, drawn from a server's metrics",
		style,
	)
	s.Text(margin, 34, "head", "", "Sluice")
	s.Text(
		margin,
		54,
		"",
		"",
		fmt.Sprintf(
			"The queries of deploy/grafana against Prometheus, over %d minutes of a server that four services use, %s. Drawn by scripts/dashboard.",
			int(math.Round((shown.To-shown.From)/60)),
			shown.Date,
		),
	)
	for i := range shown.Panels {
		p := &shown.Panels[i]
		s.Open(margin+p.X*column, header+p.Y*row)
		p.draw(s, shown)
		s.Close()
	}
	return s.End()
}

func (p *Panel) draw(s *svg.Picture, shown *Shown) {
	width, height := float64(p.W*column-inset), float64(p.H*row-inset)
	s.Path("panel", fmt.Sprintf("M0 0H%sV%sH0Z", svg.Num(width), svg.Num(height)))
	s.Text(10, 20, "title", "", p.Title)
	if p.Type == "stat" {
		line := p.Lines[0]
		s.Text(10, height-24, "value", "", format(line.Values[len(line.Values)-1], p.Unit))
		return
	}
	lines := slices.Clone(p.Lines)
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(slices.Max(b.Values), slices.Max(a.Values)) })
	rest := max(0, len(lines)-mostNames)
	lines = lines[:len(lines)-rest]
	high := 0.0
	for _, l := range lines {
		high = max(high, slices.Max(l.Values))
	}
	tick := roundTick(high)
	ticks := max(1, int(math.Ceil(high/tick-1e-9)))
	left, right, top, bottom := 64.0, width-26, 34.0, height-46
	y := func(v float64) float64 { return bottom - (bottom-top)*v/(tick*float64(ticks)) }
	x := func(seconds float64) float64 { return left + (right-left)*seconds/(shown.To-shown.From) }
	var grid strings.Builder
	for i := range ticks + 1 {
		v := tick * float64(i)
		fmt.Fprintf(&grid, "M%s %sH%s", svg.Num(left), svg.Num(y(v)), svg.Num(right))
		s.Text(left-6, y(v)+4, "", "end", format(v, p.Unit))
	}
	s.Path("grid", grid.String())
	for minute := 0.0; minute*60 <= shown.To-shown.From; minute += 2 {
		s.Text(x(minute*60), bottom+16, "", "middle", fmt.Sprintf("%.0f min", minute))
	}
	at := left
	for i, l := range lines {
		class := "l" + strconv.Itoa(i%classes)
		var path strings.Builder
		for k := range l.Times {
			command := "L"
			if k == 0 || l.Times[k]-l.Times[k-1] > 2*step.Seconds() {
				command = "M"
			}
			fmt.Fprintf(&path, "%s%s %s", command, svg.Num(x(l.Times[k])), svg.Num(y(l.Values[k])))
		}
		s.Path(class, path.String())
		s.Text(at, height-10, class, "", l.Name)
		at += 7*float64(len(l.Name)) + 14
	}
	if rest > 0 {
		s.Text(at, height-10, "", "", fmt.Sprintf("and %d more", rest))
	}
}

// roundTick returns a round distance of at most five ticks up to high.
func roundTick(high float64) float64 {
	if high <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(high/5)))
	for _, digit := range []float64{1, 2, 5} {
		if digit*power >= high/5 {
			return digit * power
		}
	}
	return 10 * power
}

// format writes a value with its unit, as Grafana calls them.
func format(v float64, unit string) string {
	short := func(v float64) string { return strconv.FormatFloat(rounded(v), 'f', -1, 64) }
	switch {
	case v == 0:
		return "0"
	case unit == "s" && v < 1:
		return short(v*1000) + " ms"
	case unit == "s" && v >= 120:
		return short(math.Round(v/6)/10) + " min"
	case unit == "s":
		return short(v) + " s"
	case unit == "bytes":
		return short(math.Round(v/(1<<30)*10)/10) + " GiB"
	case unit == "cps" || unit == "reqps":
		return short(v) + "/s"
	}
	return short(v)
}
