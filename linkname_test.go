package sluice_test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBorrowedNames checks that NATS still has the names that internal/cluster/jetstream borrows with go:linkname, in
// the form in which it uses them. A missing name would only be a linker error. A variable with another type would be no
// error at all, and would be written with the old type.
func TestBorrowedNames(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}",
		"github.com/nats-io/nats-server/v2/server").Output()
	if err != nil {
		t.Fatal(err)
	}
	declared := declarations(t, strings.TrimSpace(string(out)))
	for name, want := range map[string]string{
		"(*Server).lookupRaftNode":  "func(group string) RaftNode",
		"(*Account).lookupStream":   "func(name string) (*stream, error)",
		"(*stream).getMsg":          "func(seq uint64) (*StoredMsg, error)",
		"minCampaignTimeout":        "minCampaignTimeoutDefault",
		"minCampaignTimeoutDefault": "100 * time.Millisecond",
		"maxCampaignTimeout":        "maxCampaignTimeoutDefault",
		"maxCampaignTimeoutDefault": "8 * minCampaignTimeoutDefault",
	} {
		if got := declared[name]; got != want {
			t.Errorf("the NATS server of go.mod has changed what Sluice borrows: %s is %q, want %q.\n"+
				"Read campaign.go and nearby.go in internal/cluster/jetstream, look how this version of NATS does what they borrow, and change both.", name, got, want)
		}
	}
}

// declarations returns the signatures of the methods of a package, and the values of its variables and constants.
func declarations(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	out := make(map[string]string)
	for _, name := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		text := func(n ast.Node) string {
			var b strings.Builder
			if err := printer.Fprint(&b, set, n); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					out["("+text(d.Recv.List[0].Type)+")."+d.Name.Name] = text(d.Type)
				}
			case *ast.GenDecl:
				values(d, func(name string, value ast.Expr) { out[name] = text(value) })
			}
		}
	}
	return out
}

// values calls f with each name of a declaration that has a value.
func values(d *ast.GenDecl, f func(name string, value ast.Expr)) {
	for _, spec := range d.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok {
			for i, name := range v.Names {
				if i < len(v.Values) {
					f(name.Name, v.Values[i])
				}
			}
		}
	}
}
