package sluice_test

import (
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxDependencies is the maximum number of modules that the program's own packages import.
const maxDependencies = 26

// go.mod separates the program's imports from those of tests and scripts only, to show what runs in production. The
// former stay few.
func TestDependenciesAreListed(t *testing.T) {
	listed := requirements(t)
	if len(listed) != 2 {
		t.Fatalf("go.mod has %d lists of direct requirements, want those of the program and those of tests",
			len(listed))
	}
	program := make(map[string]bool)
	for name := range programImports(t) {
		if m := moduleOf(name, slices.Concat(listed...)); m != "" {
			program[m] = true
		}
	}
	imported := slices.Sorted(maps.Keys(program))
	if first := slices.Sorted(slices.Values(listed[0])); !slices.Equal(first, imported) {
		t.Errorf("the program imports\n%q, go.mod lists\n%q", imported, first)
	}
	if len(imported) > maxDependencies {
		t.Errorf("the program imports %d modules, %d are allowed", len(imported), maxDependencies)
	}
}

// requirements returns the modules of each list of direct requirements in go.mod.
func requirements(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var lists [][]string
	for _, list := range strings.Split(string(text), "\nrequire (\n")[1:] {
		list, _, _ = strings.Cut(list, "\n)")
		var direct []string
		for line := range strings.Lines(list) {
			if words := strings.Fields(line); len(words) == 2 {
				direct = append(direct, words[0])
			}
		}
		if direct != nil {
			lists = append(lists, direct)
		}
	}
	return lists
}

// programImports returns the packages of other modules that the program imports, on any system.
func programImports(t *testing.T) map[string]bool {
	t.Helper()
	all := sources(t)
	others, seen := make(map[string]bool), make(map[string]bool)
	for left := []string{"cmd/sluice"}; len(left) > 0; left = left[1:] {
		dir := left[0]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		for _, file := range all[dir] {
			for _, i := range file.Imports {
				name, _ := strconv.Unquote(i.Path.Value)
				if own, ok := strings.CutPrefix(name, module+"/"); ok {
					left = append(left, own)
				} else {
					others[name] = true
				}
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("the program has %d packages", len(seen))
	}
	return others
}

// moduleOf returns the module of a package, or "" for one of the standard library.
func moduleOf(name string, modules []string) string {
	for ; name != "."; name = path.Dir(name) {
		if slices.Contains(modules, name) {
			return name
		}
	}
	return ""
}
