package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newPolicyCheck() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "check QUEUE ACTION...",
		Short: "Ask the server which actions you may take on a queue",
		Long: `Ask a running server which actions the keys of this command may take on a queue, as
requests from here would be decided, and why not the others. Sluice only; needs no
permission. sluice policy explain answers about other principals.

An action is one of sqs or sluice, such as sqs:SendMessage; there are 1 to 25. The exit
status is 0 if all are allowed, and 1 if one is not.`,
		Example: `  sluice policy check jobs sqs:SendMessage sqs:ReceiveMessage sqs:DeleteMessage
  sluice policy check jobs sluice:PeekMessages --json | jq -r '.Decisions[] | select(.Allowed | not).Action'`,
		Args:              arguments("QUEUE", "ACTION..."),
		ValidArgsFunction: completeQueues(server),
	}
	server.add(cmd, "SQS")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		url, err := c.args[0], error(nil)
		if strings.HasPrefix(url, "arn:") { // a name needs no sqs:GetQueueUrl
			if url, err = c.queueURL(ctx, url); err != nil {
				return nil, err
			}
		}
		out := new(checked)
		in := map[string]any{"QueueUrl": url, "Actions": c.args[1:]}
		if err := c.sluice(ctx, "CheckAccess", in, out); err != nil {
			return nil, err
		}
		for _, d := range out.Decisions {
			if !d.Allowed {
				return out, errNotAllowed
			}
		}
		return out, nil
	})
}

// checked is the answer of policy check.
type checked struct{ Decisions []checkedAction }

type checkedAction struct {
	Action  string
	Allowed bool
	Message string `json:",omitempty"`
}

func (c *checked) text(w io.Writer) error {
	for _, d := range c.Decisions {
		if d.Allowed {
			fmt.Fprintf(w, "%s: allowed\n", printable(d.Action))
			continue
		}
		fmt.Fprintf(w, "%s: not allowed. %s\n", printable(d.Action), printable(d.Message))
	}
	return nil
}
