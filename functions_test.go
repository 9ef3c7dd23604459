package sluice_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// longestFunction is the maximum length of a function, in lines. Most have a dozen. Functions of tests may be longer,
// because many are lists of cases.
const longestFunction = 100

func TestFunctionsAreShort(t *testing.T) {
	read := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "dist", "node_modules", "testdata", ".venv"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		read++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			begin, end := files.Position(f.Pos()), files.Position(f.End())
			if n := end.Line - begin.Line + 1; n > longestFunction {
				t.Errorf("%s: %s has %d lines, %d are allowed", begin, f.Name.Name, n, longestFunction)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read == 0 {
		t.Error("no file was read")
	}
}
