package sluice_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forTests are the fields of options that only tests set, because the program needs only one value. Each declaration
// says what its zero value means.
var forTests = []string{
	"internal/cluster.Options.Reads",
	"internal/cluster.Options.ReplaceAfter",
	"internal/cluster/remote.ServerOptions.WaitTimeout",
	"internal/cluster/replica.Options.GiveUp",
	"internal/cluster/replica.Options.Margin",
	"internal/cluster/replica.Options.Now",
	"internal/cluster/router.Options.CallTimeout",
	"internal/cluster/router.Options.Timeout",
	"internal/shard.Options.Now",
	"internal/store.Options.FS",
}

// An option that the program never sets is a feature without users, tested in vain.
func TestProgramSetsEveryOption(t *testing.T) {
	all := sources(t)
	set := make(map[string]bool)
	for dir, files := range all {
		for _, file := range files {
			for field := range fieldsSet(dir, file) {
				set[field] = true
			}
		}
	}
	for dir, files := range all {
		for _, file := range files {
			for name, fields := range optionTypes(file) {
				for _, field := range fields.List {
					for _, id := range field.Names {
						full := dir + "." + name + "." + id.Name
						exempt := slices.Contains(forTests, full)
						documented := strings.Contains(field.Doc.Text()+field.Comment.Text(), " mean")
						switch {
						case set[full] && exempt:
							t.Errorf("%s is set by the program: take it off the list", full)
						case !set[full] && !exempt:
							t.Errorf("%s is set by tests only", full)
						case exempt && !documented:
							t.Errorf("%s: say what its zero value means", full)
						}
					}
				}
			}
		}
	}
}

// optionTypes returns the exported structs of a file whose names mark them as options.
func optionTypes(file *ast.File) map[string]*ast.FieldList {
	out := make(map[string]*ast.FieldList)
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			spec := s.(*ast.TypeSpec)
			if st, ok := spec.Type.(*ast.StructType); ok && strings.HasSuffix(spec.Name.Name, "Options") &&
				spec.Name.IsExported() {
				out[spec.Name.Name] = st.Fields
			}
		}
	}
	return out
}

// fieldsSet returns the fields of options that a file sets, as "package.Type.Field". A literal of the type sets a
// field; an assignment to a field, or taking its address, counts for each type of options that the file names. A
// package that fills in its own defaults does not set them.
func fieldsSet(dir string, file *ast.File) map[string]bool {
	packages := make(map[string]string) // by the name under which they are imported
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if ours, isOurs := strings.CutPrefix(imported, module+"/"); err == nil && isOurs {
			name := path.Base(ours)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			packages[name] = ours
		}
	}
	typeOf := func(e ast.Expr) string {
		if generic, ok := e.(*ast.IndexExpr); ok {
			e = generic.X
		}
		switch e := e.(type) {
		case *ast.Ident: // a function may be given the options of its package by another function there
			return dir + "." + e.Name
		case *ast.SelectorExpr:
			if x, ok := e.X.(*ast.Ident); ok && packages[x.Name] != "" {
				return packages[x.Name] + "." + e.Sel.Name
			}
		}
		return ""
	}
	named := make(map[string]bool)
	assigned := make(map[string]bool)
	out := make(map[string]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if name := typeOf(n); strings.HasSuffix(name, "Options") {
				named[name] = true
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && typeOf(n.Type) != "" {
					if field, ok := kv.Key.(*ast.Ident); ok {
						out[typeOf(n.Type)+"."+field.Name] = true
					}
				}
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if field, ok := left.(*ast.SelectorExpr); ok {
					assigned[field.Sel.Name] = true
				}
			}
		case *ast.UnaryExpr:
			if field, ok := n.X.(*ast.SelectorExpr); ok && n.Op == token.AND {
				assigned[field.Sel.Name] = true
			}
		}
		return true
	})
	for name := range named {
		for field := range assigned {
			out[name+"."+field] = true
		}
	}
	return out
}
