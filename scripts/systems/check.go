package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// maxErrors limits how many mistakes are reported for a system.
const maxErrors = 20

// checker checks packages for one system.
type checker struct {
	sizes   types.Sizes
	fset    *token.FileSet
	checked map[string]*types.Package // by ImportPath
	errs    []error
}

func newChecker(goarch string) (*checker, error) {
	sizes := types.SizesFor("gc", goarch)
	if sizes == nil {
		return nil, fmt.Errorf("there is no architecture %q", goarch)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	return &checker{sizes: sizes, fset: token.NewFileSet(), checked: checked}, nil
}

// check checks a package, all of whose imports have been checked. It checks the bodies of functions only in packages
// that the patterns name. It returns an error only if it cannot parse a source; report collects all others.
func (c *checker) check(p listed) error {
	if p.ImportPath == "unsafe" {
		return nil
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	config := types.Config{
		Importer:         importer{c, p.ImportMap},
		Sizes:            c.sizes,
		IgnoreFuncBodies: p.DepOnly,
		Error:            c.report,
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	c.checked[p.ImportPath], _ = config.Check(path, c.fset, files, nil) // its errors went to report
	return nil
}

func (c *checker) report(err error) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, err)
	}
}

// importer finds the imports of one package.
type importer struct {
	*checker
	paths map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if actual, found := i.paths[path]; found {
		path = actual
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not among the packages that go list names", path)
}
