package sluice_test

import (
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// secretName matches the names of fields whose values must not be recorded: secrets and messages.
var secretName = regexp.MustCompile(`^(.*Secret.*|SessionToken|Token|.*Password.*|MessageBody)$`)

// Fields of operations that hold secrets have the tag that excludes them from the record of calls.
func TestSecretsAreHidden(t *testing.T) {
	found := 0
	for dir, files := range sources(t) {
		if !strings.HasPrefix(dir, "internal/api/") || dir == "internal/api/apitest" {
			continue
		}
		for name, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				field, ok := n.(*ast.Field)
				if !ok || !isText(field.Type) {
					return true
				}
				for _, id := range field.Names {
					if !ast.IsExported(id.Name) || !secretName.MatchString(id.Name) {
						continue
					}
					found++
					if !hasTag(field.Tag, "hidden") {
						t.Errorf("%s: the field %s holds a secret: give it the tag hidden", name, id.Name)
					}
				}
				return true
			})
		}
	}
	if found < 4 {
		t.Errorf("only %d secrets were found: is the pattern of their names still right?", found)
	}
}

func isText(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "string"
}

func hasTag(lit *ast.BasicLit, key string) bool {
	if lit == nil {
		return false
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return false
	}
	_, ok := reflect.StructTag(text).Lookup(key)
	return ok
}
