package spans

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestResource(t *testing.T) {
	t.Parallel()
	host, _ := os.Hostname()
	usual := map[string]string{
		"service.name": "sluice", "service.version": "v9", "host.name": host,
		"telemetry.sdk.name": "sluice", "telemetry.sdk.language": "go", "telemetry.sdk.version": "v9",
	}
	for _, c := range []struct {
		node, given, name string
		want              map[string]string // beside the usual
		wrong             string
	}{
		{},
		{node: "a", want: map[string]string{"service.instance.id": "a"}},
		{given: " service.name=x , b = c%20d,e=", want: map[string]string{"service.name": "x", "b": "c d", "e": ""}},
		{given: "service.name=x", name: "y", want: map[string]string{"service.name": "y"}},
		{given: "a=b,c", wrong: `OTEL_RESOURCE_ATTRIBUTES: want name=value, with commas between several, not "c"`},
	} {
		got, err := resourceOf(Options{Version: "v9", Node: c.node},
			environment(map[string]string{resourceVariable: c.given, serviceVariable: c.name}))
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: %v", c.given, err)
		}
		if err != nil {
			continue
		}
		all := make(map[string]string)
		for _, list := range []map[string]string{usual, c.want} {
			for key, value := range list {
				all[key] = value
			}
		}
		for _, a := range got {
			if value, ok := all[a.key]; !ok || value != a.text {
				t.Errorf("%q: %s is %q", c.given, a.key, a.text)
			}
		}
		if len(got) != len(all) || !slices.IsSortedFunc(got, func(a, b attribute) int { return strings.Compare(a.key, b.key) }) {
			t.Errorf("%q: %v", c.given, got)
		}
	}
}
