package spans

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// resourceOf returns the attributes of the sender. The environment takes precedence: OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES.
func resourceOf(o Options, getenv func(string) string) (attributes, error) {
	all := attributes{
		text("service.name", "sluice"), text("service.version", o.Version),
		text("telemetry.sdk.name", "sluice"), text("telemetry.sdk.language", "go"), text("telemetry.sdk.version", o.Version),
	}
	if o.Node != "" {
		all.set(text("service.instance.id", o.Node))
	}
	if host, err := os.Hostname(); err == nil {
		all.set(text("host.name", host))
	}
	if given := strings.TrimSpace(getenv(resourceVariable)); given != "" {
		for pair := range strings.SplitSeq(given, ",") {
			key, value, ok := strings.Cut(pair, "=")
			if !ok {
				return nil, fmt.Errorf("%s: want name=value, with commas between several, not %q", resourceVariable, pair)
			}
			if plain, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
				value = plain
			}
			all.set(text(strings.TrimSpace(key), value))
		}
	}
	if name := strings.TrimSpace(getenv(serviceVariable)); name != "" {
		all.set(text("service.name", name))
	}
	slices.SortFunc(all, func(a, b attribute) int { return strings.Compare(a.key, b.key) })
	return all, nil
}
