package command

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags whose values are paths are marked, so that the shell completes files.
func filePath(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		must(cobra.MarkFlagFilename(f, name))
	}
}

func directoryPath(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		must(f.SetAnnotation(name, cobra.BashCompSubdirsInDir, []string{}))
	}
}

func isPath(f *pflag.Flag) bool {
	_, file := f.Annotations[cobra.BashCompFilenameExt]
	_, directory := f.Annotations[cobra.BashCompSubdirsInDir]
	return file || directory
}

// must panics after errors that occur only if a command is declared wrongly.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// completeNothingElse prevents the shell from completing files where a command or a flag takes none. Flags with a set
// of words complete those.
func completeNothingElse(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	complete := func(f *pflag.Flag) {
		if isPath(f) {
			return
		}
		function := cobra.NoFileCompletions
		if c, ok := f.Value.(choice); ok {
			function = c.complete
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, function) // refused if it has one
	}
	cmd.LocalNonPersistentFlags().VisitAll(complete)
	cmd.PersistentFlags().VisitAll(complete)
}

// completeFiles completes files as arguments.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completePlaces completes the URLs of places for backups.
func completePlaces(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, scheme := range []string{"file:///", "s3://"} {
		if strings.HasPrefix(scheme, begun) {
			out = append(out, scheme)
		}
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// completePlacesAndFiles completes either.
func completePlacesAndFiles(
	cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if begun == "" {
		return completeFiles(cmd, args, begun)
	}
	if places, how := completePlaces(cmd, args, begun); len(places) > 0 {
		return places, how
	}
	return completeFiles(cmd, args, begun)
}
