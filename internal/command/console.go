package command

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"
)

func newConsole() *cobra.Command {
	server := new(clientFlags)
	open := false
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Print a link that signs in to the console",
		Long: `Print a link to the console of a running server. It signs in the first person who opens
it within ten minutes, with the rights of this command's keys, for at most 12 hours or
until temporary keys expire.`,
		Example: `  sluice console
  sluice console --open`,
		Args: noArguments,
	}
	server.add(cmd, "SLUICE")
	cmd.Flags().BoolVar(&open, "open", false, "open the link in this machine's browser")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		var link signInLink
		if err := c.sluice(ctx, "CreateSignInLink", struct{}{}, &link); err != nil {
			return nil, err
		}
		if !open {
			return link, nil
		}
		if err := openInBrowser(ctx, link.Url); err != nil {
			return link, fmt.Errorf("open the link in a browser: %w", err)
		}
		return done{"the console is opened in your browser"}, nil
	})
}

// signInLink is the answer of console.
type signInLink struct {
	Url        string
	Expiration float64 // in seconds since 1970
}

func (l signInLink) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, printable(l.Url))
	return err
}

// openInBrowser makes the desktop open a page. Users who can list this machine's processes see the link. They could
// also ask the server on this machine, and the link works only once.
func openInBrowser(ctx context.Context, url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	return exec.CommandContext(ctx, name, args...).Run()
}
