package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// answer is the output of a command. As JSON it is printed unchanged.
type answer interface {
	// text prints it for people.
	text(w io.Writer) error
}

// output prints the answer of a command in the requested form.
type output struct{ json bool }

// add declares --json.
func (o *output) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer as JSON, and nothing else")
}

func (o *output) print(cmd *cobra.Command, a answer) error {
	if o.json {
		return printJSON(cmd.OutOrStdout(), a)
	}
	return a.text(cmd.OutOrStdout())
}

// done is the answer of a command that has succeeded.
type done struct{ Done string }

func (d done) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, d.Done)
	return err
}

// report is a result of another package, which prints itself.
type report interface{ Print(w io.Writer) }

// printed is a report as an answer.
type printed struct{ report }

func (p printed) text(w io.Writer) error { p.Print(w); return nil }

func (p printed) MarshalJSON() ([]byte, error) { return json.Marshal(p.report) }

// progress returns the writer for the progress of a long command. It discards everything if only JSON is wanted.
func (o *output) progress(w io.Writer) io.Writer {
	if o.json {
		return io.Discard
	}
	return w
}

func printJSON(w io.Writer, value any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(value)
}

// printTable prints rows under a header, in columns.
func printTable(w io.Writer, header []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(header, "\t"))
	for _, row := range rows {
		for i := range row {
			row[i] = orDash(printable(row[i]))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// printable replaces control characters, which a terminal would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
