// Command systems type-checks packages and their tests for other systems, from their sources:
//
//	go run ./scripts/systems linux/arm64,windows/amd64 ./...
//
// "go vet" would find the same and more, but it first compiles all that they import for each system, which takes
// minutes. cgo is off, as in the programs that are released.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: systems OS/ARCH,... PACKAGE...")
		os.Exit(2)
	}
	if err := run(".", strings.Split(os.Args[1], ","), os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run checks the packages that the patterns name in dir for each system, a few at a time.
func run(dir string, systems, patterns []string) error {
	var (
		checks sync.WaitGroup
		turns  = make(chan struct{}, runtime.GOMAXPROCS(0))
		errs   = make([]error, len(systems))
	)
	for i, name := range systems {
		checks.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if err := checkAll(dir, name, patterns); err != nil {
				errs[i] = fmt.Errorf("for %s:\n%w", name, err)
			}
		})
	}
	checks.Wait()
	return errors.Join(errs...)
}

// checkAll checks the packages for one system, which is named as "linux/arm64" is.
func checkAll(dir, system string, patterns []string) error {
	goos, goarch, found := strings.Cut(system, "/")
	if !found {
		return fmt.Errorf("a system is named by OS/ARCH, not %q", system)
	}
	packages, err := list(dir, goos, goarch, patterns)
	if err != nil {
		return err
	}
	c, err := newChecker(goarch)
	if err != nil {
		return err
	}
	for _, p := range packages {
		if err := c.check(p); err != nil {
			return err
		}
	}
	return errors.Join(c.errs...)
}
