package sluice_test

import (
	"go/ast"
	"testing"
)

// mostMethods is the maximum number of methods that a type declares. A type with more is really several types with one
// name.
const mostMethods = 53

func TestTypesAreSmall(t *testing.T) {
	found := 0
	for dir, files := range sources(t) {
		methods := make(map[string]int)
		for _, file := range files {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
					methods[receiver(f)]++
					found++
				}
			}
		}
		for name, n := range methods {
			if n > mostMethods {
				t.Errorf("%s: %s has %d methods, %d are allowed", dir, name, n, mostMethods)
			}
		}
	}
	if found == 0 {
		t.Error("no method was found")
	}
}
