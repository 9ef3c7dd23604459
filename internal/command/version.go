package command

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what the program knows of how it was built.
type build struct {
	Version  string
	Commit   string `json:",omitempty"`
	Modified bool   `json:",omitempty"` // files differed from the commit
	Date     string `json:",omitempty"` // of the commit
	Go       string
	Platform string
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	b := build{
		Version: cmp.Or(info.Main.Version, "(devel)"), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// version is the version alone.
func version() string { return thisBuild().Version }

func (b build) text(w io.Writer) error {
	fmt.Fprintln(w, "sluice", b.Version)
	if b.Commit != "" {
		changed := ""
		if b.Modified {
			changed = ", with changes"
		}
		fmt.Fprintf(w, "commit %s of %s%s\n", b.Commit, b.Date, changed)
	}
	_, err := fmt.Fprintln(w, b.Go, b.Platform)
	return err
}

func newVersion() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the Go version of this build",
		Example: `  sluice version --json`,
		Args:    noArguments,
		// The version is printed also where the environment has an unknown variable.
		PreRunE: func(*cobra.Command, []string) error { return nil },
		RunE:    func(cmd *cobra.Command, _ []string) error { return out.print(cmd, thisBuild()) },
	}
	out.add(cmd)
	return cmd
}

// addVersionFlag makes sluice --version what sluice version is.
func addVersionFlag(root *cobra.Command) {
	show := root.Flags().BoolP("version", "v", false, "print the version")
	root.PreRunE = func(*cobra.Command, []string) error { return nil }
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *show {
			return thisBuild().text(cmd.OutOrStdout())
		}
		return cmd.Help()
	}
}
