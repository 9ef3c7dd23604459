package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// skip is a test that was skipped.
type skip struct{ pkg, test, reason string }

func (s skip) String() string { return s.test + ": " + s.reason }

type results struct {
	failed bool
	skips  []skip
}

// event is what cmd/test2json documents.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// line is something that was printed, by a test or, if that is empty, by its
// package.
type line struct{ test, text string }

// pkg is a package whose tests run.
type pkg struct {
	lines []line
	quiet map[string]bool // the tests that passed or were skipped: their output is not printed
}

// follow reads events to their end and prints the packages' results as they come.
func follow(in io.Reader, out io.Writer) (*results, error) {
	all := new(results)
	packages := make(map[string]*pkg)
	for decoder := json.NewDecoder(in); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the output of go test: %w", err)
		}
		p := packages[e.Package]
		if p == nil {
			p = &pkg{quiet: make(map[string]bool)}
			packages[e.Package] = p
		}
		switch e.Action {
		case "build-output":
			fmt.Fprintf(out, "%s", e.Output)
		case "build-fail":
			all.failed = true
		case "output":
			p.lines = append(p.lines, line{e.Test, e.Output})
		case "fail":
			all.failed = true
		case "pass":
			p.quiet[e.Test] = true
		case "skip":
			p.quiet[e.Test] = true
			if e.Test != "" {
				all.skips = append(all.skips, skip{e.Package, e.Test, p.reason(e.Test)})
			}
		}
		if done := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"; done && e.Test == "" {
			p.print(out)
			delete(packages, e.Package)
		}
	}
}

var logged = regexp.MustCompile(`^ *\S+\.go:\d+: (.*)\n$`)

// reason is the last text that a test has logged.
func (p *pkg) reason(test string) string {
	reason := ""
	for _, l := range p.lines {
		if found := logged.FindStringSubmatch(l.text); l.test == test && found != nil {
			reason = found[1]
		}
	}
	return reason
}

// print prints what go test prints of a package: one line, and the output of the tests that have failed or that never
// ended, as when their process was killed.
func (p *pkg) print(out io.Writer) {
	for _, l := range p.lines {
		switch {
		case strings.HasPrefix(l.text, "=== "):
		case l.test != "" && p.quiet[l.test]:
		case l.test == "" && l.text == "PASS\n":
		default:
			fmt.Fprintf(out, "%s", l.text)
		}
	}
}
