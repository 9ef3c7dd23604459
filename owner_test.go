package sluice_test

import (
	"go/ast"
	"slices"
	"testing"
)

// Nothing that a caller has written is evaluated in the goroutine that owns a shard, because all queues of the shard
// would wait for it. The engine's methods run there. Peeks and searches evaluate filters on a snapshot elsewhere; the
// languages of policies and of subscriptions are not imported at all, as the table of imports requires.
func TestOwnersEvaluateNothingOfCallers(t *testing.T) {
	owned := []string{"Engine", "queue", "MoveTask", "Selection", "Found"}
	evaluated := 0
	for name, file := range sources(t)["internal/queue"] {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !evaluates(f) {
				continue
			}
			evaluated++
			if of := receiver(f); of == "" || slices.Contains(owned, of) {
				t.Errorf("%s: %s.%s evaluates a filter", name, of, f.Name.Name)
			}
		}
	}
	if evaluated == 0 {
		t.Error("no filter is evaluated anywhere: this test no longer recognizes evaluations")
	}
}

// evaluates reports whether a function parses a filter or matches by one.
func evaluates(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, _ := sel.X.(*ast.Ident)
			found = found || sel.Sel.Name == "Match" || x != nil && x.Name == "search" && sel.Sel.Name == "Parse"
		}
		return !found
	})
	return found
}

// receiver returns the name of the type that a method belongs to, or "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}
