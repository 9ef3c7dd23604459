package cidr_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/tool/cidr"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.1.2.3/8":           "10.1.2.3/8",
		"2001:db8::/32":        "2001:db8::/32",
		"::/0":                 "::/0",
		"::ffff:10.1.2.3/104":  "10.1.2.3/8",
		"::ffff:10.1.2.3/128":  "10.1.2.3/32",
		"::ffff:0.0.0.0/96":    "0.0.0.0/0",
		"::ffff:0.0.0.0/95":    "",
		"::ffff:10.1.2.3/129":  "",
		"::ffff:10.1.2.3":      "",
		"fe80::1%eth0/64":      "",
		"10.0.0.0/33":          "",
		"64:ff9b::10.0.0.0/96": "64:ff9b::a00:0/96",
	} {
		got, err := cidr.Parse(text)
		if want == "" && err == nil || want != "" && (err != nil || got.String() != want) {
			t.Errorf("%s: got %s, %v, want %q", text, got, err, want)
		}
	}
}
