package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sectionOf marks a flag with its section of the help.
const sectionOf = "sluice:section"

// section declares related flags, under a title in the help.
func section(flags *pflag.FlagSet, title string, declare func(f *pflag.FlagSet)) {
	f := pflag.NewFlagSet(title, pflag.ContinueOnError)
	f.SortFlags = false
	declare(f)
	f.VisitAll(func(one *pflag.Flag) { must(f.SetAnnotation(one.Name, sectionOf, []string{title})) })
	flags.AddFlagSet(f)
}

// helpWidth is the width of the help, in characters.
const helpWidth = 110

// printUsage prints how to call a command: Cobra's usage, which follows the description in its help.
func printUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintln(w, "Usage:")
	if !isGroup(cmd) {
		fmt.Fprintln(w, "  "+useLine(cmd))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(w, "  "+cmd.CommandPath()+" COMMAND")
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		printCommands(w, cmd)
	}
	for _, s := range sectionsOf(cmd) {
		fmt.Fprintf(w, "\n%s:\n%s", s.title, strings.TrimRight(s.flags.FlagUsagesWrapped(helpWidth), "\n")+"\n")
	}
	return nil
}

func isGroup(cmd *cobra.Command) bool { _, ok := cmd.Annotations[groupMark]; return ok }

// useLine returns a command with its arguments, and the word for flags if it has any of its own.
func useLine(cmd *cobra.Command) string {
	line := cmd.UseLine()
	if cmd.HasAvailableFlags() && !strings.Contains(line, "[flags]") {
		line += " [flags]"
	}
	return line
}

// addGroup adds commands that belong together in the help.
func addGroup(parent *cobra.Command, title string, commands ...*cobra.Command) {
	parent.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = title
	}
	parent.AddCommand(commands...)
}

func printCommands(w io.Writer, cmd *cobra.Command) {
	for _, group := range cmd.Groups() {
		printGroup(w, cmd, group.Title, group.ID)
	}
	title := "Commands"
	if len(cmd.Groups()) > 0 {
		title = "Other commands"
	}
	printGroup(w, cmd, title, "")
}

func printGroup(w io.Writer, cmd *cobra.Command, title, id string) {
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, child := range cmd.Commands() {
		if child.GroupID == id && (child.IsAvailableCommand() || child.Name() == "help") {
			fmt.Fprintf(w, "  %-*s %s\n", cmd.NamePadding(), child.Name(), child.Short)
		}
	}
}

// flagSection is flags under a title.
type flagSection struct {
	title string
	flags *pflag.FlagSet
}

// sectionsOf returns the flags of a command, its own before those of the command
// it belongs to, in the order in which they are declared.
func sectionsOf(cmd *cobra.Command) []*flagSection {
	var sections []*flagSection
	add := func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		title := "Flags"
		if named := f.Annotations[sectionOf]; named != nil {
			title = named[0]
		}
		for _, s := range sections {
			if s.title == title {
				s.flags.AddFlag(f)
				return
			}
		}
		s := &flagSection{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
		s.flags.SortFlags = false
		s.flags.AddFlag(f)
		sections = append(sections, s)
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return sections
}

// addHelp declares the command help, which refuses unknown commands.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != "help" {
			continue
		}
		help.Short, help.Long, help.Run = "Show the help of a command", "", nil
		help.RunE = func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage(
					fmt.Errorf("there is no command %q to help with; see sluice --help", strings.Join(args, " ")),
				)
			}
			return found.Help()
		}
	}
}
