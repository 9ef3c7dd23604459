package search

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCost looks for the path with the most comparisons in a body. However many steps match any member, each value is
// compared at most once, so the comparisons of a term never read more than the body.
func FuzzCost(f *testing.F) {
	nested := strings.Repeat(`{"a":[`, 8) + "1,2" + strings.Repeat("]}", 8)
	f.Add(strings.Repeat("*.", 15)+"*", nested)
	f.Add(strings.Repeat("a.0.", 7)+"a.*", nested)
	f.Add("*", "["+strings.Repeat("1,", 500)+`"\u0041"]`)
	f.Add("a", "{"+strings.Repeat(`"a":1,`, 200)+`"a":"b"}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		var steps []text
		for step := range strings.SplitSeq(path, ".") {
			steps = append(steps, text{s: step})
		}
		p, err := newPath(steps)
		if err != nil || len(steps) > maxSteps || !json.Valid([]byte(body)) || !utf8.ValidString(body) {
			return
		}
		values, read := 0, 0
		p.match(&Item{Body: []byte(body)}, func(value []byte) bool {
			values++
			read += len(value)
			return false
		}, false)
		if most := 1 + strings.Count(body, ","); values > most || read > len(body) {
			t.Errorf("%q compares %d values of %d bytes in a body of %d: %.100q", path, values, read, len(body), body)
		}
	})
}
