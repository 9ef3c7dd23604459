package prometheus

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"time"
)

// Panel is a panel of a dashboard.
type Panel struct {
	Title   string
	Type    string // stat or timeseries
	GridPos struct{ X, Y, W, H int }
	Targets []Target

	FieldConfig struct{ Defaults struct{ Unit string } }
}

// Target is a query of a panel.
type Target struct {
	Expr         string
	LegendFormat string
}

// Panels reads the panels of a dashboard.
func Panels(file string) ([]Panel, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var dashboard struct{ Panels []Panel }
	return dashboard.Panels, json.Unmarshal(b, &dashboard)
}

// Query returns the target's query about all queues. Rates cover a range.
func (t *Target) Query(over time.Duration) string {
	return strings.NewReplacer("$queue", ".+", "$__rate_interval", over.String()).Replace(t.Expr)
}

var label = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// Legend returns the target's name for a series.
func (t *Target) Legend(of Series) string {
	return label.ReplaceAllStringFunc(t.LegendFormat, func(part string) string {
		return of.Labels[label.FindStringSubmatch(part)[1]]
	})
}
