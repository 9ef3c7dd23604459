package apitest

import (
	"fmt"
	"regexp"
)

type (
	Object = map[string]any
	List   = []any
)

var (
	UUID      = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	Anything  = regexp.MustCompile(``)
	Decimal   = regexp.MustCompile(`^[0-9]+$`)
	Handles   = regexp.MustCompile(`^[A-Za-z0-9+/]{20,}=*$`)
	Sequences = regexp.MustCompile(`^[0-9]{20}$`)
)

// Match compares got with want. Regular expressions in want match values that are not known beforehand.
func Match(want, got any) error {
	switch want := want.(type) {
	case *regexp.Regexp:
		text, ok := got.(string)
		if !ok || !want.MatchString(text) {
			return fmt.Errorf("%v does not match %v", got, want)
		}
		return nil
	case Object:
		m, ok := got.(Object)
		if !ok || len(m) != len(want) {
			return fmt.Errorf("%v is not %v", got, want)
		}
		for name, w := range want {
			g, ok := m[name]
			if !ok {
				return fmt.Errorf("%s is missing", name)
			}
			if err := Match(w, g); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case List:
		l, ok := got.(List)
		if !ok || len(l) != len(want) {
			return fmt.Errorf("%v is not %v", got, want)
		}
		for i := range want {
			if err := Match(want[i], l[i]); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
		return nil
	}
	if fmt.Sprint(want) != got {
		return fmt.Errorf("%v is not %v", got, want)
	}
	return nil
}
