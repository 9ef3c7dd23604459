package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
)

// svg is a picture being written. It paints its own background, because the page that shows it
// may be dark where the reader's system is light.
type svg struct{ bytes.Buffer }

const style = `
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#59636e}
.head{font-size:20px;font-weight:600}
.title{font-size:15px;font-weight:600}
.head,.title{fill:#1f2328}
path{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.back{fill:#fff}
.grid{stroke:#d1d9e0;stroke-width:.5}
.axis{stroke:#818b98;stroke-width:1}
.faint{stroke:#818b98;stroke-width:1.5;stroke-dasharray:2 4}
path.a{stroke:#0969da}
path.b{stroke:#bc4c00}
path.spread{stroke-width:1;stroke-dasharray:none}
text.a,circle.a{fill:#0969da}
text.b,circle.b{fill:#bc4c00}
text.faint{stroke:none}
.note{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
@media(prefers-color-scheme:dark){
text{fill:#9198a1}
.head,.title{fill:#f0f6fc}
.back{fill:#0d1117}
.note{stroke:#0d1117}
.grid{stroke:#3d444d}
.axis,.faint{stroke:#656c76}
path.a{stroke:#4493f8}
path.b{stroke:#f0883e}
text.a,circle.a{fill:#4493f8}
text.b,circle.b{fill:#f0883e}
}
`

func newSVG(width, height int, title string) *svg {
	s := new(svg)
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	s.element("title", "", title)
	fmt.Fprintf(s, "<style>%s</style>\n", style)
	fmt.Fprintf(s, `<rect class="back" width="%d" height="%d"/>`+"\n", width, height)
	return s
}

func (s *svg) end() []byte {
	fmt.Fprintln(s, "</svg>")
	return s.Bytes()
}

// open begins a group whose coordinates begin at x, y.
func (s *svg) open(x, y int) { fmt.Fprintf(s, `<g transform="translate(%d %d)">`+"\n", x, y) }

func (s *svg) close() { fmt.Fprintln(s, "</g>") }

func (s *svg) path(class, d string) { fmt.Fprintf(s, `<path class="%s" d="%s"/>`+"\n", class, d) }

func (s *svg) dot(x, y float64, class string) {
	fmt.Fprintf(s, `<circle class="%s" cx="%s" cy="%s" r="3.5"/>`+"\n", class, num(x), num(y))
}

// text writes a line of text that begins at x, or ends or has its middle there.
func (s *svg) text(x, y float64, class, anchor, text string) {
	attributes := fmt.Sprintf(` x="%s" y="%s"`, num(x), num(y))
	if class != "" {
		attributes += ` class="` + class + `"`
	}
	if anchor != "" {
		attributes += ` text-anchor="` + anchor + `"`
	}
	s.element("text", attributes, text)
}

func (s *svg) element(name, attributes, text string) {
	fmt.Fprintf(s, "<%s%s>", name, attributes)
	_ = xml.EscapeText(s, []byte(text)) // a buffer takes all
	fmt.Fprintf(s, "</%s>\n", name)
}

// num writes a coordinate to a tenth of a pixel.
func num(v float64) string {
	t := strconv.FormatFloat(v, 'f', 1, 64)
	if t[len(t)-1] == '0' {
		return t[:len(t)-2]
	}
	return t
}
