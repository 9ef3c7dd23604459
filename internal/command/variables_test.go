package command

import (
	"strings"
	"testing"
)

func FuzzParseVariables(f *testing.F) {
	f.Add("# comment\nSLUICE_LOG_LEVEL=warn\n\nSLUICE_REGION = 'eu-west-1'\n")
	f.Add("SLUICE_A=\"\nSLUICE_B=''")
	f.Add("A=b")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := parseVariables(text)
		if values == nil {
			t.Errorf("%q: %v, %v", text, values, err)
		}
		for name, value := range values {
			if !strings.HasPrefix(name, variablePrefix) || value == "" || strings.ContainsAny(value, "\n") {
				t.Errorf("%q: %q is %q", text, name, value)
			}
		}
	})
}
