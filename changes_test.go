package sluice_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A function that decides a change of the control store may still run after its caller has stopped waiting for it. So
// it assigns to no variable of the surrounding function: control.Decide returns its result.
func TestChangesAssignToNothingOutside(t *testing.T) {
	literals := 0
	for dir, files := range sources(t) {
		n, wrong := assignedByChanges(slices.Collect(maps.Values(files)))
		literals += n
		for _, w := range wrong {
			t.Errorf("%s: %s", dir, w)
		}
	}
	if literals < 80 {
		t.Errorf("only %d changes were found: are they still recognized?", literals)
	}
}

func TestChangesThatAssignAreFound(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a variable", `var v int; _ = change(func(tx *Tx) error { v = 1; return nil }); _ = v`, "v"},
		{"the error", `var err error; err = change(func(tx *Tx) error { _, err = f(); return err }); _ = err`, "err"},
		{"a field", `var v struct{ a int }; _ = change(func(tx *Tx) error { v.a++; return nil }); _ = v`, "v"},
		{"an element", `v := []int{0}; _ = change(func(tx *Tx) error { v[0] += 2; return nil })`, "v"},
		{"the target of a pointer", `v := new(int); _ = change(func(tx *Tx) error { *v = 2; return nil })`, "v"},
		{"by address", `v := 1; _ = change(func(tx *Tx) error { fill(&v); return nil })`, "v"},
		{"in a range", `v := 1; _ = change(func(tx *Tx) error { for v = range 3 { }; return nil }); _ = v`, "v"},
		{"by a wrapper", `v := 1; _ = edit(func(r *Record) error { v = 2; return nil }); _ = v`, "v"},
		{"by a wrapper of it", `v := 1; _ = editName(func(r *Record) error { v = 2; return nil }); _ = v`, "v"},
		{"deeper", `v := 1; _ = change(func(tx *Tx) error { func() { v = 2 }(); return nil }); _ = v`, "v"},
		{"its own",
			`_ = change(func(tx *Tx) (err error) { v := 1; v, err = f(); var w struct{ a int }; w.a = v; fill(&v); return err })`, ""},
		{"the record", `_ = edit(func(r *Record) error { r.Name = "x"; return nil })`, ""},
		{"by what runs at once", `v := 1; each(func(r *Record) error { v = 2; return nil }); _ = v`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := parser.ParseFile(fset, "p.go", `package p
				type Tx struct{}
				type Record struct{ Name string }
				func change(f func(*Tx) error) error { return f(nil) }
				func edit(f func(*Record) error) error { return change(func(tx *Tx) error { return f(nil) }) }
				func editName(f func(*Record) error) error { return edit(func(r *Record) error { return f(r) }) }
				func each(f func(*Record) error) { f(nil) }
				func f() (int, error) { return 0, nil }
				func fill(*int) {}
				func test() { `+c.text+` }`, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, wrong := assignedByChanges([]*ast.File{file})
			if c.want == "" && len(wrong) > 0 ||
				c.want != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], "assigns to "+c.want+" ")) {
				t.Errorf("found %q", wrong)
			}
		})
	}
}

// assignedByChanges returns the number of changes in a package, and those that assign to outer variables. A change is a
// function literal with a parameter *Tx, or one that is passed to a function that calls it in a change.
func assignedByChanges(files []*ast.File) (changes int, wrong []string) {
	info := &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}
	lenient := types.Config{Importer: noImports{}, Error: func(error) {}} // the variables of functions need no imports
	_, _ = lenient.Check("p", fset, files, info)
	w := changeWalker{info: info, wrappers: make(map[string]bool)}
	for before := -1; before != len(w.wrappers); {
		before = len(w.wrappers)
		w.visit(files, w.findWrappers)
	}
	w.visit(files, func(_ *ast.FuncDecl, change *ast.FuncLit) {
		changes++
		wrong = append(wrong, w.assigned(change)...)
	})
	return changes, wrong
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

type changeWalker struct {
	info     *types.Info
	wrappers map[string]bool // functions of the package that call one of their parameters in a change
}

// visit calls f for each change.
func (w *changeWalker) visit(files []*ast.File, f func(*ast.FuncDecl, *ast.FuncLit)) {
	for _, file := range files {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					if takesTx(n) {
						f(fn, n)
					}
				case *ast.CallExpr:
					for _, arg := range n.Args {
						if lit, ok := arg.(*ast.FuncLit); ok && !takesTx(lit) && w.wrappers[calledName(n)] {
							f(fn, lit)
						}
					}
				}
				return true
			})
		}
	}
}

// findWrappers adds fn to the wrappers if it calls one of its parameters in a change.
func (w *changeWalker) findWrappers(fn *ast.FuncDecl, change *ast.FuncLit) {
	ast.Inspect(change.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if v := w.info.Uses[id]; v != nil && within(v.Pos(), fn.Type) && isFunction(v.Type()) {
			w.wrappers[fn.Name.Name] = true
		}
		return true
	})
}

// assigned returns the variables that a change assigns to, or takes the address of, without declaring them.
func (w *changeWalker) assigned(change *ast.FuncLit) (wrong []string) {
	check := func(e ast.Expr) {
		id := root(e)
		if id == nil {
			return
		}
		if v, ok := w.info.Uses[id].(*types.Var); ok && !within(v.Pos(), change) {
			wrong = append(wrong,
				fmt.Sprintf("%s: a change assigns to %s of the function around it: use control.Decide",
					fset.Position(e.Pos()), id.Name))
		}
	}
	ast.Inspect(change.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				check(e)
			}
		case *ast.IncDecStmt:
			check(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				check(n.Key)
				check(n.Value)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				check(n.X)
			}
		}
		return true
	})
	return wrong
}

// root returns the variable that an assignment to e changes, or nil if there is none.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func takesTx(lit *ast.FuncLit) bool {
	return slices.ContainsFunc(lit.Type.Params.List, func(f *ast.Field) bool {
		star, ok := f.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		switch x := star.X.(type) {
		case *ast.Ident:
			return x.Name == "Tx"
		case *ast.SelectorExpr:
			return x.Sel.Name == "Tx"
		}
		return false
	})
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func isFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

func within(pos token.Pos, n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }
