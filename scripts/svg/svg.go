// Package svg writes pictures in SVG, for the scripts that draw what they have measured.
package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
)

// Picture is a picture being written. It paints its own background, because the page that shows it
// may be dark where the reader's system is light.
type Picture struct{ bytes.Buffer }

// Style are the rules that all pictures have.
const Style = `
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#59636e}
.head{font-size:20px;font-weight:600}
.title{font-size:15px;font-weight:600}
.head,.title{fill:#1f2328}
path{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.back{fill:#fff}
.grid{stroke:#d1d9e0;stroke-width:.5}
.axis{stroke:#818b98;stroke-width:1}
@media(prefers-color-scheme:dark){
text{fill:#9198a1}
.head,.title{fill:#f0f6fc}
.back{fill:#0d1117}
.grid{stroke:#3d444d}
.axis{stroke:#656c76}
}
`

// New begins a picture, whose style sheet is Style and the rules of its own.
func New(width, height int, title, style string) *Picture {
	s := new(Picture)
	fmt.Fprintf(
		s,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n",
		width,
		height,
	)
	s.element("title", "", title)
	fmt.Fprintf(s, "<style>%s%s</style>\n", Style, style)
	fmt.Fprintf(s, `<rect class="back" width="%d" height="%d"/>`+"\n", width, height)
	return s
}

// End ends the picture and returns it.
func (s *Picture) End() []byte {
	fmt.Fprintln(s, "</svg>")
	return s.Bytes()
}

// Open begins a group whose coordinates begin at x, y.
func (s *Picture) Open(x, y int) { fmt.Fprintf(s, `<g transform="translate(%d %d)">`+"\n", x, y) }

// Close ends it.
func (s *Picture) Close() { fmt.Fprintln(s, "</g>") }

// Path draws a path.
func (s *Picture) Path(class, d string) { fmt.Fprintf(s, `<path class="%s" d="%s"/>`+"\n", class, d) }

// Dot draws a dot.
func (s *Picture) Dot(x, y float64, class string) {
	fmt.Fprintf(s, `<circle class="%s" cx="%s" cy="%s" r="3.5"/>`+"\n", class, Num(x), Num(y))
}

// Text writes a line of text that begins at x, or ends or has its middle there.
func (s *Picture) Text(x, y float64, class, anchor, text string) {
	attributes := fmt.Sprintf(` x="%s" y="%s"`, Num(x), Num(y))
	if class != "" {
		attributes += ` class="` + class + `"`
	}
	if anchor != "" {
		attributes += ` text-anchor="` + anchor + `"`
	}
	s.element("text", attributes, text)
}

func (s *Picture) element(name, attributes, text string) {
	fmt.Fprintf(s, "<%s%s>", name, attributes)
	_ = xml.EscapeText(s, []byte(text)) // a buffer accepts everything
	fmt.Fprintf(s, "</%s>\n", name)
}

// Num writes a coordinate to a tenth of a pixel.
func Num(v float64) string {
	t := strconv.FormatFloat(v, 'f', 1, 64)
	if t[len(t)-1] == '0' {
		return t[:len(t)-2]
	}
	return t
}
