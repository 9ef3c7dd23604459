package command

import (
	"context"

	"github.com/spf13/cobra"
)

func newLogLevel() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "log-level [LEVEL]",
		Short: "Show or change the log level of a running server",
		Long: `Show or change the level of what a running server logs, until its next start or SIGHUP:
debug, info, warn or error. In a cluster, --endpoint names the node.

Needs sluice:GetLogLevel or sluice:SetLogLevel in the first account.`,
		Example: `  sluice log-level
  sluice log-level debug`,
		Args:      arguments("[LEVEL]"),
		ValidArgs: []string{"debug", "info", "warn", "error"},
	}
	server.add(cmd, "SLUICE")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		var out struct{ Level, Previous string }
		if len(c.args) == 0 {
			err := c.sluice(ctx, "GetLogLevel", struct{}{}, &out)
			return answerOr(done{"the log level is " + out.Level}, err)
		}
		err := c.sluice(ctx, "SetLogLevel", map[string]string{"Level": c.args[0]}, &out)
		return answerOr(done{"the log level is " + out.Level + ", it was " + out.Previous}, err)
	})
}
