package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Report is the result of an examination.
type Report struct {
	Sound  bool
	Checks []*Check
}

// Check is the result of one check.
type Check struct {
	Name     string
	Counts   Counts
	Problems []string // empty: sound
	// Skipped is the reason why other problems prevented the check.
	Skipped string `json:",omitempty"`
	// Note is a harmless remark.
	Note string `json:",omitempty"`
}

// Counts is the amount of examined data.
type Counts []Count

// Count is a number of things.
type Count struct {
	Of string
	N  uint64
}

// MarshalJSON makes one object of the counts.
func (c Counts) MarshalJSON() ([]byte, error) {
	object := make(map[string]uint64, len(c))
	for _, n := range c {
		object[n.Of] = n.N
	}
	return json.Marshal(object)
}

func (c *Check) count(of string, n uint64) { c.Counts = append(c.Counts, Count{of, n}) }

func (c *Check) problem(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

// Print prints the report for people: a line for each check, its problems below it, and a summary.
func (r *Report) Print(w io.Writer) {
	problems := 0
	for _, c := range r.Checks {
		verdict := "sound"
		switch {
		case len(c.Problems) > 0:
			verdict = "DAMAGED"
		case c.Skipped != "":
			verdict = "skipped"
		}
		line := fmt.Sprintf("%-16s %-8s %s", c.Name, verdict, c.counts())
		if c.Skipped != "" {
			line += c.Skipped
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		for _, p := range c.Problems {
			fmt.Fprintf(w, "    %s\n", p)
		}
		if c.Note != "" {
			fmt.Fprintf(w, "    note: %s\n", c.Note)
		}
		problems += len(c.Problems)
	}
	if r.Sound {
		fmt.Fprintln(w, "The data directory is sound.")
	} else {
		fmt.Fprintf(w, "The data directory is DAMAGED; problems: %d.\n", problems)
	}
}

func (c *Check) counts() string {
	var out []string
	for _, n := range c.Counts {
		if n.Of == "bytes" {
			out = append(out, Size(n.N))
			continue
		}
		out = append(out, fmt.Sprintf("%s: %d", n.Of, n.N))
	}
	return strings.Join(out, ", ")
}

// Size formats a number of bytes for people.
func Size(n uint64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB"}
	f := float64(n)
	for len(units) > 1 && f >= 1024 {
		f, units = f/1024, units[1:]
	}
	if units[0] == "bytes" {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[0])
}
