package metricsearch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// counted is a term that counts the fields and words with which it is compared.
type counted struct {
	term
	steps *int
}

func (c counted) matches(fields []field) bool {
	for _, f := range fields {
		*c.steps++
		if p, ok := c.term.(part); ok {
			*c.steps += len(f.words) * max(1, len(p.words))
		}
	}
	return c.term.matches(fields)
}

// count returns a term like t that counts the steps of its parts.
func count(t term, steps *int) term {
	switch t := t.(type) {
	case allOf:
		out := make(allOf, len(t))
		for i := range t {
			out[i] = count(t[i], steps)
		}
		return out
	case anyOf:
		out := make(anyOf, len(t))
		for i := range t {
			out[i] = count(t[i], steps)
		}
		return out
	case notAny:
		return notAny{count(t.term, steps)}
	case of:
		return counted{of{t.name, count(t.term, steps)}, steps}
	}
	return counted{t, steps}
}

// long is a series with the maximum number and length of dimensions.
func long() series.ID {
	id := series.ID{Namespace: "n", Metric: "m"}
	for i := range 30 {
		id.Dimensions = append(id.Dimensions, series.Dimension{
			Name: fmt.Sprint("d", i), Value: strings.Repeat("a ", 512),
		})
	}
	return id
}

// FuzzCost looks for the most expensive search. The cost of every search covers its steps, and is bounded by its
// length.
func FuzzCost(f *testing.F) {
	f.Add(strings.Repeat("b OR ", 200) + "b")
	f.Add(strings.Repeat("a-", 500) + "b")
	f.Add(strings.Repeat("NOT d1=b ", 100))
	f.Add(`{n,d0,d1} m d2=("a" OR a) NOT "d3"`)
	id := long()
	fields := fieldsOf(id)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil || q.term == nil {
			return
		}
		steps, cost := 0, q.Cost(id)
		count(q.term, &steps).matches(fields)
		if steps > 2*cost*stepsOfSample {
			t.Errorf("%q takes %d steps, and costs %d samples", text, steps, cost)
		}
		if most := 1 + (len(text)+2)*31_000*2/stepsOfSample; cost > most {
			t.Errorf("%q costs %d samples, want at most %d", text, cost, most)
		}
	})
}
