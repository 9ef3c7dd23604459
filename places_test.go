package sluice_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
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

// elsewhere are the attributes that other pages of the console show instead of the overview, or that none shows.
var elsewhere = map[string]bool{
	"Policy": true, "RedrivePolicy": true, "RedriveAllowPolicy": true, "KmsDataKeyReusePeriodSeconds": true,
}

// The overview of a queue shows its attributes.
func TestTheConsoleShowsQueueAttributes(t *testing.T) {
	names, _, _ := strings.Cut(read(t, "internal/api/sqs/attributes.go"), "attrVisible ")
	overview := read(t, "console/src/pages/queue/overview/index.tsx")
	for _, name := range setAttribute.FindAllStringSubmatch(names, -1) {
		if shown := strings.Contains(overview, "."+name[1]); shown == elsewhere[name[1]] {
			t.Errorf("the overview of a queue shows the attribute %s: %t", name[1], shown)
		}
	}
}

// action matches the actions of SQS in its rules.
var action = regexp.MustCompile(`"sqs:(\w+)"`)

// The console offers the actions that policies can grant to other accounts.
func TestActionsOfOthersCanBeChosen(t *testing.T) {
	_, rules, _ := strings.Cut(read(t, "internal/api/sqs/access.go"), "Actions: []string{")
	all, rules, _ := strings.Cut(rules, "OwnerOnly: []string{")
	owners, _, _ := strings.Cut(rules, "}")
	choices := read(t, "console/src/pages/queue/access/permissions.tsx")
	found := action.FindAllStringSubmatch(all, -1)
	if len(found) < 20 {
		t.Errorf("%d actions were found", len(found))
	}
	for _, name := range found {
		mayOthers := !strings.Contains(owners, name[0])
		if offered := strings.Contains(choices, "'"+name[1]+"'"); offered != mayOthers {
			t.Errorf("the console offers %s for statements of policies: %t", name[1], offered)
		}
	}
}

// ownMetric matches the metrics that Sluice counts: their namespace and name.
var ownMetric = regexp.MustCompile(`\{(SQS|SNS|Own), "([\w-]+)"`)

// Each metric that Sluice counts has its stored number. Those that AWS lacks are documented and drawn.
func TestCloudWatchMetricsHaveTheirPlaces(t *testing.T) {
	found := ownMetric.FindAllStringSubmatch(read(t, "internal/observe/cloudwatch/series/metric.go"), -1)
	if len(found) < 30 {
		t.Errorf("%d metrics were found", len(found))
	}
	for _, metric := range found {
		places := []string{"internal/observe/cloudwatch/queueseries/queueseries.go"}
		if metric[1] == "Own" {
			places = append(places, "docs/monitoring.md", "console/src/api/metrics.ts")
		}
		for _, place := range places {
			if !regexp.MustCompile(`\b` + metric[2] + `\b`).MatchString(read(t, place)) {
				t.Errorf("%s does not know the metric %s", place, metric[2])
			}
		}
	}
}

// recordPrefix matches the common prefix of a package's records in the control store.
var recordPrefix = regexp.MustCompile(`\bPrefix += "([\w-]+/)"`)

// The comment of package control lists the prefixes of records, and the doctor knows them.
func TestRecordsHaveTheirPlaces(t *testing.T) {
	list, doctor := read(t, "internal/control/doc.go"), read(t, "internal/doctor/doctor.go")
	found := 0
	for dir, files := range sources(t) {
		text := textOf(t, dir, files)
		prefix := recordPrefix.FindStringSubmatch(text)
		if prefix == nil || !strings.Contains(text, "control.Table[") {
			continue
		}
		found++
		if !strings.Contains(list, "//\t"+prefix[1]+" ") {
			t.Errorf("the comment of internal/control does not list %s of %s", prefix[1], dir)
		}
		if pkg := path.Base(dir); !strings.Contains(doctor, pkg+".Prefix,") {
			t.Errorf("the doctor does not know %s.Prefix", pkg)
		} else if strings.Contains(text, "control.OpenRows(") && !strings.Contains(doctor, pkg+".Check,") {
			t.Errorf("the doctor does not call %s.Check", pkg)
		}
	}
	if found < 10 {
		t.Errorf("%d packages with records were found", found)
	}
}

// textOf returns the text of the files of a directory.
func textOf(t *testing.T, dir string, files map[string]*ast.File) string {
	t.Helper()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, path.Join(dir, name))
	}
	return read(t, names...)
}

// loopRow matches the row of ARCHITECTURE.md for a loop that a wing runs: the wing.
var loopRow = regexp.MustCompile("(?m)^\\| `[\\w.]+\\.Run` \\((\\w+)\\) \\|")

// ARCHITECTURE.md has a row for each loop that the Run of a wing of the server starts.
func TestLoopsHaveRows(t *testing.T) {
	rows := make(map[string]int)
	for _, row := range loopRow.FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1) {
		rows[row[1]]++
	}
	if len(rows) < 6 {
		t.Errorf("loops of %d wings were found", len(rows))
	}
	for _, file := range sources(t)["internal/server"] {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Run" || f.Type.Results == nil { // wings return an error
				continue
			}
			if wing, n := receiver(f), callsOfRun(f); wing != "Server" && n != rows[wing] {
				t.Errorf("%s runs %d loops, ARCHITECTURE.md has rows for %d", wing, n, rows[wing])
			}
		}
	}
}

// callsOfRun counts the calls of methods named Run.
func callsOfRun(f *ast.FuncDecl) (n int) {
	ast.Inspect(f.Body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Run" {
				n++
			}
		}
		return true
	})
	return n
}

// Each Prometheus metric is documented. A list of metrics in the documentation may omit their common beginning.
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
