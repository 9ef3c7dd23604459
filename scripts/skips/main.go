// Command skips reads what go test -json writes, prints what go test would have
// printed without -json, and fails if a test was skipped that should not have been:
//
//	go test -json ./... | go run ./scripts/skips ALLOWED
//
// A line of the file ALLOWED is a regular expression that a test's name and its reason, as in "TestSoak: it takes a
// while", match as a whole. Empty lines and those that begin with # are ignored.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json ... | skips ALLOWED")
		os.Exit(2)
	}
	ok, err := run(os.Args[1], os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run prints the results and reports whether they are as expected.
func run(file string, in io.Reader, out io.Writer) (ok bool, err error) {
	lines, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	allowed, err := parseAllowed(lines)
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	results, err := follow(in, out)
	if err != nil {
		return false, err
	}
	unexpected := 0
	for _, s := range results.skips {
		if allowed.match(s) {
			continue
		}
		if unexpected++; unexpected == 1 {
			fmt.Fprintf(out, "\nskipped, and not allowed by %s:\n", file)
		}
		fmt.Fprintf(out, "  %s %s\n", s.pkg, s)
	}
	if results.failed || unexpected > 0 {
		fmt.Fprintln(out, "FAIL")
		return false, nil
	}
	return true, nil
}

// allowList are the skips that are expected.
type allowList []*regexp.Regexp

func parseAllowed(text []byte) (allowList, error) {
	var list allowList
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		pattern, err := regexp.Compile(`^(?:` + string(line) + `)$`)
		if err != nil {
			return nil, err
		}
		list = append(list, pattern)
	}
	return list, nil
}

func (a allowList) match(s skip) bool {
	for _, pattern := range a {
		if pattern.MatchString(s.String()) {
			return true
		}
	}
	return false
}
