package command

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	referenceFile = "../../docs/cli.md"
	// generated marks the start of the part of the file that is generated from the commands.
	generated = "<!-- Generated from the commands: go test ./internal/command -run Reference -rewrite -->\n"
	// longestBrief is the maximum length, in bytes, of a description that is a line in a table.
	longestBrief = 300
)

// The reference matches the commands.
func TestReference(t *testing.T) {
	text, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	intro, got, found := strings.Cut(string(text), generated)
	if !found {
		t.Fatalf("%s lacks the line %s", referenceFile, generated)
	}
	root, _ := newRoot()
	want := reference(root)
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(referenceFile, []byte(intro+generated+want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("%s differs from the commands: go test ./internal/command -run Reference -rewrite", referenceFile)
	}
}

// pages are pages that only tests use.
var pages = map[string]string{"sluice torture": "torture.md"}

// reference describes a command and all commands below it, in Markdown.
func reference(root *cobra.Command) string {
	var b strings.Builder
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd.HasParent() && documented(cmd) && !isBrief(cmd) {
			describe(&b, cmd)
		}
	})
	return b.String()
}

// documented reports whether a command is Sluice's own and visible to users.
func documented(cmd *cobra.Command) bool { return !cmd.Hidden && !isOfCobra(cmd) }

// isBrief reports whether a line in the table of its group describes a command completely.
func isBrief(cmd *cobra.Command) bool {
	return cmd.Parent().HasParent() && !cmd.HasAvailableSubCommands() &&
		!strings.Contains(cmd.Long, "\n  ") && len(cmd.Long) <= longestBrief && ownFlags(cmd) == ""
}

// describe describes a group, with a table of its brief commands, or a command.
func describe(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n%s %s\n", strings.Repeat("#", strings.Count(cmd.CommandPath(), " ")+1), cmd.CommandPath())
	switch page := pages[cmd.CommandPath()]; {
	case page != "":
		fmt.Fprintf(b, "\n%s.\n\nSee [its page](%s); `%s --help` has the flags.\n", cmd.Short, page, cmd.CommandPath())
	case isGroup(cmd):
		fmt.Fprintf(b, "\n%s\n", inMarkdown(about(cmd)))
	default:
		fmt.Fprintf(b, "\n%s\n%s", inMarkdown(about(cmd)), inText(usedAs(cmd), examples(cmd), ownFlags(cmd)))
	}
	title := "\n| command | |\n|---|---|\n"
	for _, child := range cmd.Commands() {
		if documented(child) && isBrief(child) {
			words := strings.Join(strings.Fields(about(child)), " ")
			fmt.Fprintf(b, "%s| `%s` | %s |\n", title, strings.TrimSpace(usedAs(child)),
				strings.ReplaceAll(words, "<", "&lt;"))
			title = ""
		}
	}
}

// inText returns the text after the description of a command. A command without arguments is used as its heading shows.
func inText(usage, examples, flags string) string {
	text := examples + flags
	if strings.ContainsAny(usage, "[<{.") || usage != strings.ToLower(usage) {
		text = usage + text
	}
	if text == "" {
		return ""
	}
	return "\n```text\n" + strings.TrimPrefix(text, "\n") + "```\n"
}

// about returns the description of a command.
func about(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}

// usedAs returns a line with a command and its arguments.
func usedAs(cmd *cobra.Command) string { return strings.TrimSuffix(useLine(cmd), " [flags]") + "\n" }

// examples returns the examples of a command, without those that only fill in its arguments.
func examples(cmd *cobra.Command) string {
	lines := slices.DeleteFunc(strings.Split(cmd.Example, "\n"), func(line string) bool {
		plain := !strings.Contains(line, "--") && !strings.ContainsAny(line, "<>|$\"'")
		return line == "" || plain && len(strings.Fields(line)) <= len(strings.Fields(usedAs(cmd)))
	})
	if len(lines) == 0 {
		return ""
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// ownFlags returns the flags of a command, without those that the introduction describes.
func ownFlags(cmd *cobra.Command) string {
	var b strings.Builder
	for _, s := range sectionsOf(cmd) {
		if s.title == "Server" {
			continue
		}
		if json := s.flags.Lookup("json"); json != nil {
			json.Hidden = true
		}
		flags := strings.TrimRight(s.flags.FlagUsagesWrapped(helpWidth), "\n")
		if flags == "" {
			continue
		}
		title := "\n" + s.title + ":\n"
		if s.title == "Flags" && b.Len() == 0 {
			title = "\n"
		}
		fmt.Fprintf(&b, "%s%s\n", title, flags)
	}
	return b.String()
}

// inMarkdown keeps the lists of a help text, which are indented by two spaces.
func inMarkdown(long string) string {
	var out []string
	for _, paragraph := range strings.Split(long, "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			out = append(out, "```text\n"+strings.TrimRight(paragraph, "\n")+"\n```")
			continue
		}
		if head, list, ok := strings.Cut(paragraph, "\n  "); ok {
			paragraph = head + "\n\n```text\n  " + list + "\n```"
		}
		out = append(out, strings.ReplaceAll(paragraph, "<", "&lt;"))
	}
	return strings.TrimRight(strings.Join(out, "\n\n"), "\n")
}

// Every command is declared in the same way.
func TestCommandsAreDeclaredAlike(t *testing.T) {
	root, _ := newRoot()
	eachCommand(root, func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if !cmd.HasParent() || !documented(cmd) {
			return
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: Short %q: want a sentence without a full stop", path, cmd.Short)
		}
		if isGroup(cmd) {
			return
		}
		if !strings.Contains(cmd.Example, path) {
			t.Errorf("%s has no example", path)
		}
		// The output of export and schema is already a document.
		if cmd.Flags().Lookup("json") == nil && !slices.Contains([]string{"serve", "export", "schema"}, cmd.Name()) {
			t.Errorf("%s has no --json", path)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" ||
				f.Usage[0] >= 'A' && f.Usage[0] <= 'Z' &&
					!strings.ContainsAny(f.Usage[1:2], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
					!strings.HasPrefix(f.Usage, "MaximumMessageSize") {
				t.Errorf("%s --%s: help %q: want a text that begins in lower case", path, f.Name, f.Usage)
			}
		})
	})
}

// Every flag completes its values, or files, or nothing; never files by default.
func TestEveryFlagIsCompleted(t *testing.T) {
	root, _ := newRoot()
	eachCommand(root, func(cmd *cobra.Command) {
		if isOfCobra(cmd) {
			return
		}
		if cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
			t.Errorf("%s completes files as its arguments", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, ok := cmd.GetFlagCompletionFunc(f.Name)
			if !ok && !isPath(f) && f.Name != "help" {
				t.Errorf("%s --%s completes files", cmd.CommandPath(), f.Name)
			}
			if strings.HasPrefix(f.Usage, "file with") && !isPath(f) {
				t.Errorf("%s --%s does not complete files", cmd.CommandPath(), f.Name)
			}
		})
	})
}
