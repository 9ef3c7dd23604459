package main

import (
	"fmt"

	"github.com/sluicemq/sluice/scripts/svg"
)

// style are the rules that only curves need.
const style = `
.faint{stroke:#818b98;stroke-width:1.5;stroke-dasharray:2 4}
path.a{stroke:#0969da}
path.b{stroke:#bc4c00}
path.spread{stroke-width:1;stroke-dasharray:none}
text.a,circle.a{fill:#0969da}
text.b,circle.b{fill:#bc4c00}
text.faint{stroke:none}
.note{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
@media(prefers-color-scheme:dark){
.note{stroke:#0d1117}
.faint{stroke:#656c76}
path.a{stroke:#4493f8}
path.b{stroke:#f0883e}
text.a,circle.a{fill:#4493f8}
text.b,circle.b{fill:#f0883e}
}
`

// Distances within the picture, in pixels.
const (
	margin  = 24
	gap     = 24
	header  = 114 // above the panels
	columns = 2
)

// draw draws the results: the machine above, and the panels in two columns.
func draw(r *Results) []byte {
	charts := panels(r)
	rows := (len(charts) + columns - 1) / columns
	width := 2*margin + columns*panelWidth + (columns-1)*gap
	height := header + rows*(panelHeight+gap)
	s := svg.New(width, height, "Sluice's performance curves", style)
	m := r.Machine
	s.Text(margin, 36, "head", "", fmt.Sprintf("Sluice and its load on %s", count(m.Cores, "core")))
	s.Text(margin, 58, "", "", fmt.Sprintf("%s, %s, Go %s, %s", m.CPU, m.System, m.Go, m.Date))
	s.Text(margin, 76, "", "", fmt.Sprintf("%s with %s syncs/s; every answer came after its sync. Each point %s%s.",
		m.FileSystem, r.syncRange(), r.Duration, medians(r.Rounds)))
	for i, c := range charts {
		x, y := panelAt(i)
		s.Open(x, y)
		c.draw(s)
		s.Close()
	}
	return s.End()
}

func medians(rounds int) string {
	if rounds == 1 {
		return ""
	}
	return fmt.Sprintf(", median and spread of %d", rounds)
}

// syncRange is how often the disk could sync at its worst and at its best.
func (r *Results) syncRange() string {
	low, high := r.Machine.Syncs, r.Machine.Syncs
	for i := range r.Runs {
		low, high = min(low, r.Runs[i].Syncs), max(high, r.Runs[i].Syncs)
	}
	if low == high {
		return thousands(significant(low))
	}
	return fmt.Sprintf("%s to %s", thousands(significant(low)), thousands(significant(high)))
}

// panelAt returns the upper left corner of panel i.
func panelAt(i int) (x, y int) {
	return margin + i%columns*(panelWidth+gap), header + i/columns*(panelHeight+gap)
}
