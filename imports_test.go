// Package sluice_test holds the house rules that no linter knows.
package sluice_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sluicemq/sluice"

// layers says which packages of the project a package may import, and which of
// the standard library it must not. Imports point downwards: protocols do not
// know queues, the engine does not know the world.
var layers = map[string]struct {
	may    []string
	mayNot []string
}{
	"internal/queue": {mayNot: []string{
		"context", "crypto/rand", "io", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "sync",
	}},
	"internal/aws/policy": {mayNot: []string{"context", "io", "log", "log/slog", "net", "net/http", "os"}},
	"internal/auth/access": {may: []string{"internal/auth/identity", "internal/aws/policy"}, mayNot: []string{
		"context", "io", "log", "log/slog", "net", "net/http", "os", "time",
	}},
	"internal/aws/signature": {},
	"internal/aws/protocol":  {},
	"internal/store":         {mayNot: []string{"net", "net/http"}},
	"internal/control":       {may: []string{"internal/store"}, mayNot: []string{"net", "net/http"}},
	"internal/auth/identity": {may: []string{"internal/control", "internal/store"}, mayNot: []string{"net", "net/http"}},
	"internal/auth/directory": {may: []string{
		"internal/auth/access", "internal/control", "internal/auth/identity", "internal/aws/policy", "internal/store",
	}, mayNot: []string{"net", "net/http"}},
	"internal/api/iam": {may: []string{
		"internal/auth/access", "internal/auth/directory", "internal/auth/identity", "internal/aws/policy", "internal/aws/protocol", "internal/store",
	}, mayNot: []string{"net"}},
	"internal/api/sts": {may: []string{
		"internal/auth/access", "internal/auth/directory", "internal/auth/identity", "internal/aws/policy", "internal/aws/protocol",
	}, mayNot: []string{"net"}},
	"internal/api/admin":    {may: []string{"internal/cluster", "internal/auth/identity", "internal/aws/protocol"}, mayNot: []string{"net"}},
	"internal/observe/prom": {may: []string{"internal/cluster"}, mayNot: []string{"net", "net/http"}},
	"internal/backup":       {mayNot: []string{"net", "net/http"}},
	"internal/cluster": {may: []string{
		"internal/catalog", "internal/control", "internal/cluster/jetstream", "internal/cluster/messenger", "internal/queue", "internal/cluster/remote",
		"internal/cluster/replica", "internal/cluster/router", "internal/shard", "internal/cluster/sharedlog", "internal/store",
	}, mayNot: []string{"net/http"}},
	"internal/shard":   {may: []string{"internal/queue", "internal/store"}, mayNot: []string{"net", "net/http"}},
	"internal/catalog": {may: []string{"internal/control", "internal/queue", "internal/store"}, mayNot: []string{"net", "net/http"}},
	"internal/api/sqs": {may: []string{
		"internal/auth/access", "internal/catalog", "internal/auth/identity", "internal/aws/policy", "internal/aws/protocol",
		"internal/queue", "internal/shard",
	}, mayNot: []string{"net", "net/http"}},
	"internal/server": {may: []string{
		"internal/auth/access", "internal/api/admin", "internal/backup", "internal/catalog", "internal/control", "internal/auth/directory", "internal/api/iam", "internal/auth/identity",
		"internal/observe/prom", "internal/aws/protocol", "internal/queue", "internal/shard", "internal/aws/signature", "internal/api/sqs", "internal/store",
		"internal/api/sts",
	}},
	"internal/doctor": {may: []string{
		"internal/catalog", "internal/cluster", "internal/control", "internal/auth/directory", "internal/auth/identity", "internal/queue", "internal/store",
	}, mayNot: []string{"net", "net/http"}},
	"internal/cluster/messenger":               {mayNot: []string{"net", "net/http"}},
	"internal/cluster/remote":                  {may: []string{"internal/cluster/messenger", "internal/queue", "internal/shard"}, mayNot: []string{"net", "net/http"}},
	"internal/cluster/router":                  {may: []string{"internal/catalog", "internal/queue", "internal/cluster/remote", "internal/shard"}, mayNot: []string{"net", "net/http"}},
	"internal/cluster/messenger/messengertest": {may: []string{"internal/cluster/messenger"}},
	"internal/cluster/jetstream": {may: []string{
		"internal/cluster/messenger", "internal/cluster/sharedlog",
	}, mayNot: []string{"net/http"}},
	"internal/cluster/sharedlog": {mayNot: []string{"net", "net/http"}},
	"internal/cluster/replica":   {may: []string{"internal/cluster/messenger", "internal/cluster/sharedlog", "internal/store"}, mayNot: []string{"net", "net/http"}},
	"internal/cluster/sharedlog/locallog": {may: []string{
		"internal/cluster/sharedlog", "internal/store",
	}, mayNot: []string{"net", "net/http"}},
	"internal/cluster/sharedlog/logtest": {may: []string{"internal/cluster/sharedlog"}},
	"internal/cluster/pki":               {mayNot: []string{"net/http"}},
	"internal/bench":                     {},
	"test/crash":                         {}, // tests only
	"internal/proof/history":             {mayNot: []string{"net", "net/http", "os"}},
	"internal/proof/workload":            {may: []string{"internal/proof/history", "internal/aws/signature"}},
	"internal/proof/torture":             {may: []string{"internal/cluster", "internal/proof/history", "internal/proof/workload"}},
	"internal/command": {may: []string{
		"internal/bench", "internal/doctor", "internal/proof/history", "internal/aws/policy", "internal/server", "internal/aws/signature",
		"internal/backup", "internal/catalog", "internal/cluster", "internal/cluster/jetstream", "internal/cluster/pki", "internal/cluster/router",
		"internal/api/sqs", "internal/proof/torture",
	}},
	"cmd/sluice": {may: []string{"internal/command"}},
}

func TestImportsPointDownwards(t *testing.T) {
	for dir, files := range sources(t) {
		rule, known := layers[dir]
		if !known {
			t.Errorf("%s: say in the table of this test what it may import", dir)
			continue
		}
		for name, file := range files {
			for _, spec := range file.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				ours, isOurs := strings.CutPrefix(imported, module+"/")
				if isOurs && !slices.Contains(rule.may, ours) || slices.Contains(rule.mayNot, imported) {
					t.Errorf("%s/%s imports %s", dir, name, imported)
				}
			}
		}
	}
}

// The engine is deterministic: it takes the time as a parameter.
func TestEngineDoesNotAskForTheTime(t *testing.T) {
	for name, file := range sources(t)["internal/queue"] {
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" &&
					slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "NewTicker"}, sel.Sel.Name) {
					t.Errorf("%s uses time.%s", name, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for dir, files := range sources(t) {
		documented := false
		for _, file := range files {
			documented = documented || file.Doc != nil
		}
		if !documented {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

// sources parses the Go files of the project that are not tests, by directory.
func sources(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	out := make(map[string]map[string]*ast.File)
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "test" || name == "scripts") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir, name := path.Split(filepath.ToSlash(file))
		dir = strings.TrimSuffix(dir, "/")
		if out[dir] == nil {
			out[dir] = make(map[string]*ast.File)
		}
		out[dir][name] = parsed
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
