package command

import "testing"

func FuzzParseConfig(f *testing.F) {
	f.Add("log-level: warn\naccount: [a, b]\n")
	f.Add("# nothing\n")
	f.Add("a: &a [*a]\nlog-level: *a")
	f.Add("region: |\n  x\n")
	flags := newServe().Flags()
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseConfig([]byte(text), "file", flags)
		if found == nil && err == nil {
			t.Errorf("%q: %v, %v", text, found, err)
		}
		for name, s := range found {
			if flags.Lookup(name) == nil || s.value == "" || s.by == "" {
				t.Errorf("%q: %q is %+v", text, name, s)
			}
		}
	})
}
