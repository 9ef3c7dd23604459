package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// right is a module with different files for each system, and a test inside its package.
var right = map[string]string{
	"go.mod":    "module example.com/m\n\ngo 1.26\n",
	"a.go":      "package m\n\nimport \"example.com/m/b\"\n\nfunc f() int { return b.OfSystem() }\n",
	"a_test.go": "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Log(f()) }\n",
	"x_test.go": "package m_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/b\"\n)\n\n" +
		"func TestX(t *testing.T) { t.Log(b.OfSystem()) }\n",
	"b/b_linux.go":  "package b\n\nfunc OfSystem() int { return 1 }\n",
	"b/b_darwin.go": "package b\n\nfunc OfSystem() int { return 2 }\n",
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name          string
		more          map[string]string
		systems, want string // part of the error, or nothing
	}{
		{"all is well", nil, "linux/arm64,darwin/arm64", ""},
		{"a file is missing", nil, "windows/amd64", "for windows/amd64:"},
		{"a body is wrong", map[string]string{"c_darwin.go": "package m\n\nfunc g() { var x int }\n"},
			"linux/arm64,darwin/arm64", "for darwin/arm64:\nDIR/c_darwin.go:3:16: declared and not used: x"},
		{"a test is wrong", map[string]string{"c_linux_test.go": "package m\n\nvar x int = \"\"\n"}, "linux/arm64",
			"for linux/arm64:\nDIR/c_linux_test.go:3:13: cannot use"},
		{"a number is too great", map[string]string{"c.go": "package m\n\nconst c int = 1 << 40\n"},
			"linux/arm64,linux/arm",
			"for linux/arm:\nDIR/c.go:3:15: cannot use"},
		{"a file cannot be read", map[string]string{"c.go": "package m\n\nfunc {\n"}, "linux/arm64", "DIR/c.go:3"},
		{"there is no such architecture", nil, "linux/z80", `there is no architecture "z80"`},
		{"an architecture is missing", nil, "linux", `a system is named by OS/ARCH, not "linux"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, files := range []map[string]string{right, test.more} {
				write(t, dir, files)
			}
			err := run(dir, strings.Split(test.systems, ","), []string{"./..."})
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir, "DIR"), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
