package sluice_test

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// A function that can succeed returns error. A function that returns an error by its own type, such as *protocol.Error,
// is a constructor and never returns nil: a nil pointer in an error is not a nil error.
func TestFallibleFunctionsReturnError(t *testing.T) {
	for dir, files := range sources(t) {
		types := errorTypes(files)
		for name, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				var kind *ast.FuncType
				var body *ast.BlockStmt
				where := "a function literal"
				switch n := n.(type) {
				case *ast.FuncDecl:
					kind, body, where = n.Type, n.Body, n.Name.Name
				case *ast.FuncLit:
					kind, body = n.Type, n.Body
				}
				if body == nil || kind.Results == nil || len(kind.Results.List) == 0 {
					return true
				}
				last := kind.Results.List[len(kind.Results.List)-1]
				if typed := pointerTo(last.Type); typed != "" && (types[typed] || strings.HasSuffix(typed, ".Error")) &&
					returnsNil(body) {
					t.Errorf("%s/%s: %s returns *%s and can return nil: let it return error", dir, name, where, typed)
				}
				return true
			})
		}
	}
}

// errorTypes returns the types of a package that have a method Error on their pointer.
func errorTypes(files map[string]*ast.File) map[string]bool {
	types := make(map[string]bool)
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "Error" && f.Recv != nil &&
				len(f.Type.Params.List) == 0 {
				types[pointerTo(f.Recv.List[0].Type)] = true
			}
		}
	}
	delete(types, "")
	return types
}

// pointerTo returns the name of the type to which e is a pointer, or "".
func pointerTo(e ast.Expr) string {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return ""
	}
	switch x := star.X.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return fmt.Sprint(x.X) + "." + x.Sel.Name
	}
	return ""
}

// returnsNil reports whether a function's own statements return nil as their last result, or leave it to a named one.
func returnsNil(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				found = true
				break
			}
			id, ok := n.Results[len(n.Results)-1].(*ast.Ident)
			found = found || ok && id.Name == "nil"
		}
		return true
	})
	return found
}
