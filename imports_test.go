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

// A rule applies to a directory and to the directories below that have no own rule. It names the packages of the
// project that may be imported there, by directory, including those below, and the packages of the standard library
// that must not. Imports point downwards: the wire does not know services, and the engine does not know the outside
// world.
type rule struct {
	dir    string
	may    []string
	mayNot []string
}

var (
	network = []string{"net", "net/http"}
	world   = []string{"context", "io", "log", "log/slog", "net", "net/http", "os"}
)

var rules = []rule{
	// The tools: each of them could be part of any program.
	{dir: "internal/tool/bytesize", mayNot: world},
	{dir: "internal/tool/cidr", mayNot: world},
	{dir: "internal/tool/days", mayNot: world},
	{dir: "internal/tool/durable", mayNot: network},
	{dir: "internal/tool/excerpt", mayNot: world},
	{dir: "internal/tool/fairshare", mayNot: []string{"io", "log", "log/slog", "net", "net/http", "os"}},
	{dir: "internal/tool/heap", mayNot: world},
	{dir: "internal/tool/keypair", mayNot: network},
	{dir: "internal/tool/plainjson", mayNot: world},
	{dir: "internal/tool/sortedlist", mayNot: world},
	{dir: "internal/tool/spelling", mayNot: world},
	{dir: "internal/tool/throttle", mayNot: world},
	{dir: "internal/tool/varint", mayNot: world},
	{dir: "internal/tool/wait", mayNot: []string{"io", "log", "log/slog", "net", "net/http", "os"}},
	{dir: "internal/tool/weburl", mayNot: world},

	// The core.
	{dir: "internal/search", mayNot: world},
	{dir: "internal/formats", mayNot: world},
	{dir: "internal/store", mayNot: network},
	{dir: "internal/store/storetest", may: []string{"internal/store"}, mayNot: network},
	{dir: "internal/control", may: []string{"internal/store", "internal/tool/sortedlist"}, mayNot: network},
	{dir: "internal/queue",
		may:    []string{"internal/formats", "internal/tool/heap", "internal/search", "internal/tool/varint"},
		mayNot: append([]string{"crypto/rand", "math/rand", "math/rand/v2", "sync"}, world...)},
	{dir: "internal/shard",
		may: []string{"internal/tool/fairshare", "internal/tool/heap", "internal/queue", "internal/store",
			"internal/tool/wait"}, mayNot: network},
	{dir: "internal/idle",
		may:    []string{"internal/catalog", "internal/control", "internal/observe/cloudtrail/trail", "internal/queue"},
		mayNot: network},
	{dir: "internal/catalog", may: []string{
		"internal/control", "internal/formats", "internal/queue", "internal/store", "internal/tool/sortedlist",
	}, mayNot: network},
	// Encryption: the keys, and the encrypted messages.
	{dir: "internal/keyring", may: []string{"internal/tool/durable"}, mayNot: network},
	{dir: "internal/keyring/keyservice", may: []string{
		"internal/keyring", "internal/tool/excerpt", "internal/tool/wait",
	}}, // it calls key services
	{dir: "internal/encryption", may: []string{
		"internal/control", "internal/formats", "internal/keyring", "internal/queue", "internal/store",
		"internal/tool/varint",
	}, mayNot: network},
	{dir: "internal/tenant", may: []string{"internal/control", "internal/formats", "internal/store"}, mayNot: network},

	// Topics: the form of their messages, who gets them, and how they are delivered.
	{dir: "internal/topic",
		may: []string{"internal/catalog", "internal/control", "internal/formats", "internal/queue", "internal/store",
			"internal/tool/sortedlist", "internal/topic"}, mayNot: network},
	{dir: "internal/topic/delivery",
		may: []string{"internal/tool/fairshare", "internal/queue", "internal/shard", "internal/topic",
			"internal/tool/wait"}},
	{dir: "internal/topic/egress", may: []string{"internal/tool/cidr"}, mayNot: []string{"net/http"}},
	{dir: "internal/topic/email", may: []string{
		"internal/tool/fairshare", "internal/tool/throttle", "internal/topic/delivery", "internal/topic/envelope",
	}, mayNot: []string{"net/http"}},
	{dir: "internal/topic/envelope", mayNot: world},
	{dir: "internal/topic/jackson", may: []string{"internal/tool/excerpt"}, mayNot: world},
	{dir: "internal/topic/preferences", may: []string{"internal/control", "internal/formats", "internal/store"},
		mayNot: network},
	{dir: "internal/topic/retry", may: []string{"internal/tool/excerpt", "internal/topic/jackson"}, mayNot: network},
	{dir: "internal/topic/signing", may: []string{"internal/control", "internal/store"}, mayNot: network},
	{dir: "internal/topic/filter", may: []string{
		"internal/tool/cidr", "internal/tool/excerpt", "internal/topic/jackson",
	}, mayNot: append([]string{"os", "time"}, network...)},

	{dir: "internal/bucket", may: []string{"internal/tool/excerpt", "internal/tool/wait"}}, // it calls S3
	{dir: "internal/datadir", may: []string{"internal/tool/durable", "internal/formats"}, mayNot: network},

	// AWS's wire formats: these packages know no service, and not each other.
	{dir: "internal/aws"},
	{dir: "internal/aws/protocol", may: []string{"internal/aws/form", "internal/tool/weburl"}},
	{dir: "internal/aws/signature", may: []string{"internal/aws/form"}},
	{dir: "internal/aws/policy", may: []string{"internal/tool/cidr"}, mayNot: world},

	// Identities and permissions.
	{dir: "internal/auth", may: []string{
		"internal/auth", "internal/aws/policy", "internal/control", "internal/tool/durable", "internal/formats",
		"internal/store", "internal/tool/sortedlist",
	}, mayNot: network},
	{dir: "internal/auth/login",
		may: []string{"internal/auth/identity", "internal/control", "internal/tool/fairshare", "internal/formats",
			"internal/store", "internal/tool/sortedlist"}, mayNot: network},
	{dir: "internal/auth/openid"},
	{dir: "internal/auth/access", may: []string{"internal/auth/identity", "internal/aws/policy"},
		mayNot: append([]string{"time"}, world...)},

	// The services: one package each. They do not know each other; shared code is in service.
	{dir: "internal/api", may: []string{
		"internal/api/service", "internal/auth", "internal/aws/policy", "internal/aws/protocol", "internal/catalog",
		"internal/control",
		"internal/encryption", "internal/keyring", "internal/observe", "internal/tool/plainjson", "internal/queue",
		"internal/shard", "internal/store",
		"internal/tenant", "internal/tool/fairshare", "internal/topic", "internal/tool/throttle",
		"internal/tool/weburl",
	}, mayNot: []string{"net"}},
	{dir: "internal/api/admin", may: []string{
		"internal/api/service", "internal/auth", "internal/aws/policy", "internal/aws/protocol",
		"internal/cluster/status", "internal/encryption",
		"internal/tenant", "internal/tool/wait",
	}, mayNot: []string{"net"}},
	{dir: "internal/api/inspect", may: []string{
		"internal/api/service", "internal/auth", "internal/aws/policy", "internal/aws/protocol", "internal/catalog",
		"internal/encryption",
		"internal/observe/consumers", "internal/tool/fairshare", "internal/queue", "internal/search", "internal/shard",
		"internal/tenant",
	}, mayNot: []string{"net"}},
	{dir: "internal/api/cloudtrail", may: []string{
		"internal/api/service", "internal/auth/access", "internal/auth/identity", "internal/aws/policy",
		"internal/aws/protocol", "internal/bucket",
		"internal/control", "internal/observe/budget",
		"internal/observe/cloudtrail/trail", "internal/observe/cloudtrail/trails",
	}, mayNot: []string{"net"}},
	{dir: "internal/api/signin", may: []string{
		"internal/api/service", "internal/auth", "internal/aws/policy", "internal/aws/protocol",
		"internal/aws/signature",
		"internal/control", "internal/observe/cloudtrail/trail",
	}},
	{dir: "internal/api/apitest", may: []string{"internal/auth/identity"}},

	// Observability: metrics, logs, traces and the audit trail.
	{dir: "internal/observe/cloudtrail/trail", may: []string{
		"internal/auth/identity", "internal/aws/policy", "internal/aws/protocol", "internal/control",
		"internal/observe/budget", "internal/store", "internal/tool/throttle",
	}, mayNot: network},
	{dir: "internal/observe/cloudtrail/trails", may: []string{
		"internal/auth/identity", "internal/bucket", "internal/control", "internal/formats",
		"internal/observe/cloudtrail/trail", "internal/observe/cloudtrail/trails",
		"internal/store", "internal/tool/sortedlist",
	}, mayNot: []string{"net", "net/http"}},
	{dir: "internal/observe/cloudtrail/trails/logfile", mayNot: append([]string{"os"}, network...)},
	{dir: "internal/observe/cloudtrail/trails/spool", mayNot: network},
	{dir: "internal/observe/cloudtrail/trails/selector", may: []string{"internal/observe/cloudtrail/trail"},
		mayNot: world},
	{dir: "internal/observe", may: []string{"internal/cluster/status", "internal/observe"}, mayNot: network},
	{dir: "internal/observe/cloudwatch/alarm", may: []string{"internal/observe/cloudwatch/series"}, mayNot: world},
	{dir: "internal/observe/cloudwatch/syntax", mayNot: world},
	{dir: "internal/observe/cloudwatch/alarmrule",
		may: []string{"internal/observe/cloudwatch/alarm", "internal/observe/cloudwatch/syntax"}, mayNot: world},
	{dir: "internal/observe/cloudwatch/insights",
		may: []string{"internal/observe/cloudwatch/series", "internal/observe/cloudwatch/syntax"}, mayNot: world},
	{dir: "internal/observe/cloudwatch/metricmath", may: []string{"internal/observe/cloudwatch/syntax"}, mayNot: world},
	{dir: "internal/observe/cloudwatch/metricsearch",
		may: []string{"internal/observe/cloudwatch/series", "internal/observe/cloudwatch/syntax"}, mayNot: world},
	{dir: "internal/observe/cloudwatch/monitor",
		may: []string{"internal/control", "internal/formats", "internal/observe", "internal/tool/heap",
			"internal/tool/plainjson", "internal/store", "internal/tool/sortedlist"}, mayNot: network},
	{dir: "internal/observe/cloudwatch/detector", may: []string{
		"internal/control", "internal/formats", "internal/observe/cloudwatch/metricdata",
		"internal/observe/cloudwatch/series", "internal/store",
	}, mayNot: network},
	{dir: "internal/observe/cloudwatch/insightrule", may: []string{
		"internal/control", "internal/formats", "internal/observe/cloudwatch/series", "internal/store",
	}, mayNot: network},
	{dir: "internal/observe/cloudwatch/muterule", may: []string{
		"internal/control", "internal/formats", "internal/observe/cloudwatch/series", "internal/store",
		"internal/tool/sortedlist",
	}, mayNot: network},
	{dir: "internal/observe/prom",
		may: []string{"internal/cluster/status", "internal/observe/cloudwatch/queueseries",
			"internal/observe/cloudwatch/series", "internal/queue", "internal/tenant"}, mayNot: network},
	{dir: "internal/observe/cloudwatch/queueseries", may: []string{
		"internal/observe/budget", "internal/observe/cloudwatch/series", "internal/observe/cloudwatch/sketch",
		"internal/queue",
	}, mayNot: network},
	{dir: "internal/observe/budget", may: []string{"internal/tool/fairshare"}, mayNot: network},
	{dir: "internal/observe/cloudwatch/sketch", mayNot: world},
	{dir: "internal/observe/cloudwatch/expected", mayNot: world},

	// it sends to a collector
	{dir: "internal/observe/spans",
		may: []string{"internal/tool/heap", "internal/queue", "internal/shard", "internal/tool/wait"}},

	// Several machines.
	{dir: "internal/cluster", may: []string{
		"internal/catalog", "internal/cluster", "internal/control", "internal/datadir", "internal/tool/durable",
		"internal/formats", "internal/queue", "internal/shard", "internal/store", "internal/tool/wait",
	}, mayNot: []string{"net/http"}},
	{dir: "internal/cluster/messenger", may: []string{"internal/cluster/messenger"}, mayNot: network},
	{dir: "internal/cluster/sharedlog", may: []string{"internal/cluster/sharedlog"}, mayNot: network},
	{dir: "internal/cluster/jetstream",
		may:    []string{"internal/cluster/messenger", "internal/cluster/sharedlog", "internal/tool/wait"},
		mayNot: []string{"net/http"}},
	{dir: "internal/cluster/status", mayNot: network},
	{dir: "internal/cluster/pki", may: []string{"internal/tool/durable", "internal/tool/keypair", "internal/tool/wait"},
		mayNot: []string{"net/http"}},
	{dir: "internal/cluster/remote",
		may:    []string{"internal/cluster/messenger", "internal/queue", "internal/shard", "internal/tool/varint"},
		mayNot: network},
	{dir: "internal/cluster/replica",
		may: []string{"internal/cluster/messenger", "internal/cluster/sharedlog", "internal/store",
			"internal/tool/wait"}, mayNot: network},
	{dir: "internal/cluster/router",
		may: []string{"internal/catalog", "internal/cluster/messenger", "internal/cluster/remote", "internal/queue",
			"internal/shard"}, mayNot: network},

	// The console: files that a browser gets.
	{dir: "console", mayNot: []string{"net", "os"}},

	// The program.
	{dir: "internal/front", may: []string{
		"console",
		"internal/api/service", "internal/auth", "internal/aws/policy", "internal/aws/protocol",
		"internal/aws/signature",
		"internal/tool/cidr", "internal/tool/heap", "internal/control", "internal/observe", "internal/tenant",
		"internal/tool/throttle",
		"internal/topic/signing",
	}},
	{dir: "internal/front/http1"},
	{dir: "internal/server", may: []string{
		"console",
		"internal/api", "internal/auth", "internal/aws/policy", "internal/aws/protocol", "internal/backup",
		"internal/bucket", "internal/catalog", "internal/cluster/status", "internal/control",
		"internal/datadir", "internal/tool/durable", "internal/encryption", "internal/formats", "internal/front",
		"internal/idle", "internal/tool/keypair", "internal/keyring", "internal/observe", "internal/queue",
		"internal/shard",
		"internal/store", "internal/tenant", "internal/topic", "internal/tool/wait",
	}},
	{dir: "internal/server/servertest", may: []string{"internal/api/apitest", "internal/server"}},
	{dir: "internal/backup", may: []string{"internal/datadir", "internal/tool/durable"}, mayNot: network},
	{dir: "internal/backup/repository", may: []string{
		"internal/backup", "internal/bucket", "internal/datadir", "internal/formats",
	}, mayNot: network},
	{dir: "internal/doctor", may: []string{
		"internal/auth", "internal/catalog", "internal/cluster", "internal/control", "internal/datadir",
		"internal/encryption", "internal/observe/cloudwatch", "internal/observe/cloudtrail/trails", "internal/queue",
		"internal/store",
		"internal/tenant", "internal/topic",
	}, mayNot: network},
	{dir: "internal/bench"},
	{dir: "internal/declared", may: []string{
		"internal/aws/policy", "internal/tool/bytesize", "internal/tool/days", "internal/tool/durable",
		"internal/tool/excerpt",
		"internal/observe/cloudwatch/alarmrule", "internal/observe/cloudwatch/series",
		"internal/tool/plainjson", "internal/tool/spelling", "internal/topic/filter", "internal/tool/wait",
		"internal/tool/weburl",
	}, mayNot: network},
	{dir: "internal/migrate", may: []string{"internal/declared", "internal/tool/wait"}, mayNot: network},
	{dir: "internal/command", may: []string{"internal"}},
	{dir: "cmd/sluice", may: []string{"internal/command"}},

	// The package for other programs: a separate module, which does not know the server.
	{dir: "sqsbuffer"},

	// Proofs: crash tests, simulations and checkers of histories.
	{dir: "internal/proof", may: []string{"internal/aws/signature", "internal/cluster", "internal/proof"}},
	{dir: "internal/proof/history", mayNot: []string{"net", "net/http", "os"}},
}

// ruleFor returns the rule of the nearest directory.
func ruleFor(dir string) (rule, bool) {
	for ; dir != "."; dir = path.Dir(dir) {
		if i := slices.IndexFunc(rules, func(r rule) bool { return r.dir == dir }); i >= 0 {
			return rules[i], true
		}
	}
	return rule{}, false
}

// allows reports whether one of our packages may be imported.
func (r rule) allows(imported string) bool {
	return slices.ContainsFunc(r.may, func(dir string) bool {
		return imported == dir || strings.HasPrefix(imported, dir+"/")
	})
}

func TestImportsPointDownwards(t *testing.T) {
	for dir, files := range sources(t) {
		rule, known := ruleFor(dir)
		if !known {
			t.Errorf("%s: say in the rules of this test what it may import", dir)
			continue
		}
		for name, file := range files {
			for _, spec := range file.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				ours, isOurs := strings.CutPrefix(imported, module+"/")
				if isOurs && !rule.allows(ours) || slices.Contains(rule.mayNot, imported) {
					t.Errorf("%s/%s imports %s", dir, name, imported)
				}
			}
		}
	}
}

// The linker leaves out the methods that nothing calls, unless a package can look methods up by name at run time, as
// templates do: then it keeps every exported method of every type that the program reaches.
func TestMethodsAreNotLookedUpByName(t *testing.T) {
	templates := []string{`"text/template"`, `"html/template"`}
	lookups := []string{"Method", "Methods", "MethodByName"}
	for dir, files := range sources(t) {
		for name, file := range files {
			for _, spec := range file.Imports {
				if slices.Contains(templates, spec.Path.Value) {
					t.Errorf("%s/%s imports %s, which makes the program larger by 8 MB", dir, name, spec.Path.Value)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(lookups, sel.Sel.Name) &&
					importsReflect(file) {
					t.Errorf("%s/%s calls %s of reflect, which makes the program larger by 8 MB", dir, name,
						sel.Sel.Name)
				}
				return true
			})
		}
	}
}

func importsReflect(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"reflect"` })
}

// The engine is deterministic: it takes the time as a parameter.
func TestEngineDoesNotAskForTheTime(t *testing.T) {
	for name, file := range sources(t)["internal/queue"] {
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" &&
					slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "NewTicker"},
						sel.Sel.Name) {
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

// fset has the positions of what sources parses.
var fset = token.NewFileSet()

// sources parses the Go files of the project except tests, by directory.
func sources(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	out := make(map[string]map[string]*ast.File)
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != "." &&
				(strings.HasPrefix(name, ".") || name == "testdata" || name == "test" || name == "scripts" ||
					name == "examples" || name == "node_modules") {
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
