package sluice_test

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// read returns the text of some files.
func read(t *testing.T, files ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// setAttribute matches the constants of attributes that clients can set: those before the first that only the server
// sets.
var setAttribute = regexp.MustCompile(`attr\w+ += "(\w+)"`)

// A queue attribute that clients can set has a setting in files of sluice apply, a field of the console's form, and a
// place in what the console copies.
func TestQueueAttributesHaveTheirPlaces(t *testing.T) {
	names, _, _ := strings.Cut(read(t, "internal/api/sqs/attributes.go"), "attrVisible ")
	found := setAttribute.FindAllStringSubmatch(names, -1)
	if len(found) < 15 {
		t.Errorf("%d attributes were found", len(found))
	}
	for _, place := range []string{
		"internal/declared/kind.go", "console/src/pages/createqueue/form.ts", "console/src/data/copyas.ts",
	} {
		text := read(t, place)
		for _, name := range found {
			fixed := name[1] == "FifoQueue" && strings.HasPrefix(place, "internal/") // it is part of the queue's name
			if !fixed && !regexp.MustCompile(`\b`+name[1]+`\b`).MatchString(text) {
				t.Errorf("%s does not know the attribute %s", place, name[1])
			}
		}
	}
}

// Each metric of Prometheus is documented. A list of metrics in the documentation may leave out their common beginning.
func TestPrometheusMetricsAreDocumented(t *testing.T) {
	documented := read(t, "docs/server-reference.md", "docs/monitoring.md")
	found := 0
	for _, file := range sources(t)["internal/observe/prom"] {
		ast.Inspect(file, func(n ast.Node) bool {
			name := metricName(n)
			if name == "" {
				return true
			}
			found++
			subsystem, rest, _ := strings.Cut(name, "_")
			begins := strings.Contains(documented, "`sluice_"+subsystem+"_")
			if !strings.Contains(documented, "`sluice_"+name) && !(begins && strings.Contains(documented, "`_"+rest)) {
				t.Errorf("%s: no document has sluice_%s", fset.Position(n.Pos()), name)
			}
			return true
		})
	}
	if found < 40 {
		t.Errorf("%d metrics were found", found)
	}
}

// metricName returns the name of the metric that a call of desc, or options of a metric, describe.
func metricName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "desc" && len(n.Args) > 1 {
			if subsystem, name := literal(n.Args[0]), literal(n.Args[1]); subsystem != "" && name != "" {
				return subsystem + "_" + name
			}
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Name" {
			return literal(n.Value)
		}
	}
	return ""
}

// literal returns the value of a string literal, or "" for another expression.
func literal(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(l.Value)
	return text
}
