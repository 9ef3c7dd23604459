package command

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/api/admin"
)

func newProfile() *cobra.Command {
	server := new(clientFlags)
	var seconds int32
	var file string
	cmd := &cobra.Command{
		Use:   "profile [KIND]",
		Short: "Profile a running server",
		Long: `Profile a running server, and write the profile to a file that go tool pprof reads: cpu (the
default) records the processors' work for --seconds, heap the memory in use, goroutine
the stacks of all goroutines. In a cluster, --endpoint names the node.

A cpu profile slows the server down a little. Needs sluice:ProfileServer in the first
account.`,
		Example: `  sluice profile --seconds 20
  sluice profile heap --file heap.pprof && go tool pprof -top heap.pprof`,
		Args:      arguments("[KIND]"),
		ValidArgs: admin.ProfileKinds,
	}
	server.add(cmd, "SLUICE")
	f := cmd.Flags()
	f.Int32Var(&seconds, "seconds", admin.DefaultProfileSeconds,
		fmt.Sprintf("duration of a cpu profile, 1 to %d", admin.MaxProfileSeconds))
	f.StringVarP(&file, "file", "o", "", "file to write (default: KIND.pprof)")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		kind := "cpu"
		if len(c.args) > 0 {
			kind = c.args[0]
		}
		if file == "" {
			file = kind + ".pprof"
		}
		var out struct{ Profile []byte }
		if err := c.sluice(ctx, "ProfileServer", map[string]any{"Kind": kind, "Seconds": seconds}, &out); err != nil {
			return nil, err
		}
		err := os.WriteFile(file, out.Profile, 0o600)
		return answerOr(done{"the profile is in " + file}, err)
	})
}
