package command

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/api/cloudwatch"
	"github.com/sluicemq/sluice/internal/api/iam"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/api/sts"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

const (
	compatibilityFile = "../../docs/compatibility.md"
	operationsFile    = "../../docs/compatibility.yaml"
	fromOperations    = "<!-- What follows is made from compatibility.yaml: go test ./internal/command -run Compatibility -rewrite -->\n"
)

// serviceCompatibility lists the operations of a service that work as on AWS, that differ, and that are missing.
type serviceCompatibility struct {
	Service string
	Differ  map[string]string // the difference, by operation
	Same    []string
	Absent  []absentOperations
}

// absentOperations are operations that are missing for the same reason.
type absentOperations struct {
	Why        string
	Operations []string
}

func readCompatibility(t *testing.T) []serviceCompatibility {
	t.Helper()
	text, err := os.ReadFile(operationsFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []serviceCompatibility
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// The table has exactly the operations of the server, each once, and the page shows the table.
func TestCompatibility(t *testing.T) {
	all := readCompatibility(t)
	_, topics := sns.New(sns.Options{})
	wires := map[string]*protocol.Service{
		"SQS": sqs.New(sqs.Options{Catalog: emptyCatalog(t)}), "SNS": topics,
		"CloudWatch": cloudwatch.New(cloudwatch.Options{}),
		"CloudTrail": cloudtrail.New(cloudtrail.Options{}), "IAM": iam.New(iam.Options{}),
		"STS": sts.New(sts.Options{}),
	}
	for _, one := range all {
		one.check(t, wires[one.Service])
		delete(wires, one.Service)
	}
	for name := range wires {
		t.Errorf("%s lacks %s", operationsFile, name)
	}
	text, err := os.ReadFile(compatibilityFile)
	if err != nil {
		t.Fatal(err)
	}
	intro, got, found := strings.Cut(string(text), fromOperations)
	if !found {
		t.Fatalf("%s lacks the line %s", compatibilityFile, fromOperations)
	}
	want := describeCompatibility(all)
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(compatibilityFile, []byte(intro+fromOperations+want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("%s differs from %s: go test ./internal/command -run Compatibility -rewrite", compatibilityFile,
			operationsFile)
	}
}

// emptyCatalog returns a catalog without queues.
func emptyCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	st := storetest.Memory(t)
	c := control.New(control.Options{Store: st})
	if err := c.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	queues, err := catalog.Open(catalog.Options{Control: c})
	if err != nil {
		t.Fatal(err)
	}
	return queues
}

// check compares the table of a service with its operations.
func (s *serviceCompatibility) check(t *testing.T, wire *protocol.Service) {
	t.Helper()
	if wire == nil {
		t.Errorf("service %s does not exist", s.Service)
		return
	}
	there := slices.Concat(s.Same, slices.Collect(maps.Keys(s.Differ)))
	var absent []string
	for _, a := range s.Absent {
		absent = append(absent, a.Operations...)
	}
	var has, lacks []string
	for _, name := range wire.Names() {
		if wire.Lacks(name) {
			lacks = append(lacks, name)
		} else {
			has = append(has, name)
		}
	}
	for _, c := range []struct {
		what         string
		table, wired []string
	}{{"has", there, has}, {"lacks", absent, lacks}} {
		slices.Sort(c.table)
		slices.Sort(c.wired)
		if !slices.Equal(c.table, c.wired) {
			t.Errorf("%s %s\n%v\nand in the table are\n%v", s.Service, c.what, c.wired, c.table)
		}
	}
}

// describeCompatibility writes the table in Markdown.
func describeCompatibility(all []serviceCompatibility) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "\n### %s\n\n", s.Service)
		if len(s.Differ) > 0 {
			fmt.Fprint(&b, "| operation | differs from AWS |\n|---|---|\n")
			for _, name := range slices.Sorted(maps.Keys(s.Differ)) {
				fmt.Fprintf(&b, "| `%s` | %s |\n", name, s.Differ[name])
			}
			fmt.Fprintln(&b)
		}
		if len(s.Absent) == 0 {
			fmt.Fprintf(&b, "As on AWS: %s.\n", codeList(s.Same))
		} else {
			fmt.Fprintf(&b, "The other %d supported operations work as on AWS.\n", len(s.Same))
		}
		for _, a := range s.Absent {
			fmt.Fprintf(&b, "\nNot supported (%s): %s.\n", a.Why, codeList(a.Operations))
		}
	}
	return b.String()
}

func codeList(names []string) string {
	sorted := slices.Sorted(slices.Values(names))
	return "`" + strings.Join(sorted, "`, `") + "`"
}
