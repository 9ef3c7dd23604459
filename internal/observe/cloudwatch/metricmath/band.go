package metricmath

import (
	"slices"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

const (
	// maxBands is how many bands an expression can have.
	maxBands     = 10
	defaultWidth = 2
	maxWidth     = 1000
)

// Band is an ANOMALY_DETECTION_BAND of an expression: a list of the lower and the upper edge of the values that are
// expected of a metric. This package does not know what is expected.
type Band struct {
	ID    string  // of the metric
	Width float64 // of the band to each side, in deviations
	at    int
}

// band reads the arguments of ANOMALY_DETECTION_BAND: an id, and a width, which may be missing.
func (p *parser) band(name syntax.Token) (node, error) {
	t := p.Next()
	if t.Kind != syntax.Word || t.Text[0] < 'a' || t.Text[0] > 'z' {
		return nil, p.Fault(t, "ANOMALY_DETECTION_BAND takes the id of a metric, not %s", t)
	}
	b := &Band{ID: t.Text, Width: defaultWidth, at: name.At + 1}
	if !slices.Contains(p.ids, b.ID) {
		p.ids = append(p.ids, b.ID)
	}
	if p.Accept(",") {
		t := p.Next()
		width, err := valueOf(t)
		if t.Kind != syntax.Number || err != nil || width <= 0 || width > maxWidth {
			return nil, p.Fault(t, "expected a width of the band above 0 and up to %d, found %s", maxWidth, t)
		}
		b.Width = width
	}
	if p.bands = append(p.bands, b); len(p.bands) > maxBands {
		return nil, fault(b.at, "an expression has at most %d bands", maxBands)
	}
	return b, p.Expect(")")
}

func (b *Band) evaluate(env *Env) (Value, error) {
	v, ok := env.Bands[b]
	if !ok {
		return Value{}, fault(b.at, "ANOMALY_DETECTION_BAND is not supported here")
	}
	return v, nil
}

// Bands returns the bands that the expression has, from left to right.
func (e *Expression) Bands() []*Band { return e.bands }

// IsBand reports whether the expression is a band, and nothing else.
func (e *Expression) IsBand() bool {
	_, ok := e.root.(*Band)
	return ok
}
