package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

func newMark() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "mark TEXT",
		Short: "Mark this moment in the console's graphs",
		Long: `Mark this moment in the console's graphs, such as a deployment. TEXT is a line of at most
100 characters. The mark is an event of the trail: sluice trail --event PutMark lists
marks. Sluice only; needs sluice:PutMark, and to see marks cloudtrail:LookupEvents.`,
		Example: `  sluice mark 'orders v42'
  sluice mark "$(git describe)"`,
		Args: arguments("TEXT"),
	}
	server.add(cmd, "SLUICE")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		var out struct{ Timestamp int64 }
		err := c.sluice(ctx, "PutMark", map[string]string{"Text": strings.TrimSpace(c.args[0])}, &out)
		return answerOr(done{"marked"}, err)
	})
}
