// Package program gives tests the sluice program as users have it: built from
// this source, run as a process of its own.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var built struct {
	once sync.Once
	dir  string
	err  error
}

// Main runs the tests of a package that uses Build, and removes what Build made:
// call it from TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// variable names a program that is built already, so that the tests of many packages need only one.
const variable = "SLUICE_TEST_PROGRAM"

// Long leaves a test out that runs whole programs or waits for a minute, unless SLUICE_TEST_LONG is set, as in CI. All
// of these tests take a quarter of an hour.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() || os.Getenv("SLUICE_TEST_LONG") == "" {
		t.Skip("it takes a while: SLUICE_TEST_LONG=1 runs it")
	}
}

// Build compiles the program, once for all tests of a package, and returns its
// path. If SLUICE_TEST_PROGRAM names a program, Build returns that one, which must be of the same source. Where there
// is no go tool it skips the test.
func Build(t testing.TB) (binary string) {
	t.Helper()
	if binary := os.Getenv(variable); binary != "" {
		return binary
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("the server cannot be built without the go tool: %v", err)
	}
	built.once.Do(func() { built.err = build(tool) })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, name)
}

func build(tool string) error {
	dir, err := os.MkdirTemp("", "sluice-program-")
	if err != nil {
		return err
	}
	built.dir = dir
	cmd := exec.Command(tool, "build", "-o", filepath.Join(dir, name), "github.com/sluicemq/sluice/cmd/sluice")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return nil
}
