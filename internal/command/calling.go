package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// call is one call of a command that asks a server.
type call struct {
	*client
	args     []string
	in       io.Reader
	progress io.Writer // for progress; discarded if only JSON is wanted
	warnings io.Writer
	print    func(answer) error // for an answer that must be printed before the command continues
}

// calling makes cmd a command that calls a server and prints its answer. An answer with an error describes what was
// done before the failure.
func (s *clientFlags) calling(
	cmd *cobra.Command, run func(ctx context.Context, c *call) (answer, error),
) *cobra.Command {
	var out output
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		a, err := run(cmd.Context(), &call{
			client: c, args: args, in: cmd.InOrStdin(),
			progress: out.progress(cmd.ErrOrStderr()), warnings: cmd.ErrOrStderr(),
			print: func(a answer) error { return out.print(cmd, a) },
		})
		if a == nil {
			return err
		}
		if printing := out.print(cmd, a); err == nil {
			err = printing
		}
		return err
	}
	out.add(cmd)
	return cmd
}

// answerOr returns an answer, or nil if there is an error.
func answerOr[A answer](a A, err error) (answer, error) {
	if err != nil {
		return nil, err
	}
	return a, nil
}
