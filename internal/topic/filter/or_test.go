package filter

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Reading a text finds the same lists as its decoded values.
func TestAlternativesAgree(t *testing.T) {
	some := 0
	rapid.Check(t, func(t *rapid.T) {
		source := encode(t, drawNested(t, 0))
		found := alternatives(source)
		var got []bool
		for i := 0; i < len(source); i++ {
			switch source[i] {
			case '"':
				i = textEnds(source, i) - 1
			case '[':
				got = append(got, found[i])
			}
		}
		want := obviousAlternatives(nil, decode(source))
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %v, and %v is right", source, got, want)
		}
		if slices.Contains(want, true) {
			some++
		}
	})
	if some == 0 {
		t.Error("no text has alternatives")
	}
}

func drawNested(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
	case kind < 2 && depth < 5:
		o := map[string]any{}
		for range rapid.IntRange(0, 2).Draw(t, "members") {
			o[draw(t, []string{"$or", "a", "prefix", "b\\", "\"[{", "x"})] = drawNested(t, depth+1)
		}
		return o
	case kind < 4 && depth < 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			list = append(list, drawNested(t, depth+1))
		}
		return list
	}
	return draw(t, []any{"prefix", "exists", `"]}`, 1, nil, true})
}

// obviousAlternatives adds for each list, in the order of their beginnings, whether it can stand behind $or.
func obviousAlternatives(to []bool, v any) []bool {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			to = obviousAlternatives(to, v[name])
		}
	case []any:
		objects, taken := 0, false
		for _, e := range v {
			if o, ok := e.(map[string]any); ok {
				objects++
				for name := range o {
					taken = taken || reserved[name]
				}
			}
		}
		to = append(to, objects >= 2 && !taken)
		for _, e := range v {
			to = obviousAlternatives(to, e)
		}
	}
	return to
}
