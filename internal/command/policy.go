package command

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

var errNotAllowed = newVerdict("not allowed")

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{Use: "policy", Short: "Test access policies"}
	cmd.AddCommand(newSimulate(), newPolicyExplain(), newPolicyCheck())
	return cmd
}

func newSimulate() *cobra.Command {
	server := new(clientFlags)
	var s simulation
	var out output
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Evaluate policies for a request",
		Long: `Show whether policies allow a request, and why.

--user, --role and --queue take policies, caller and resource from a running server;
policies in files are added. Otherwise the command needs no server.

The caller is an ARN, an account's 12 digits for its root, or "anonymous". --context
gives keys for conditions; a repeated key has a list of values. By default the time is
now, aws:SecureTransport is false, and keys about the caller follow from --caller.

The exit status is 0 if the request is allowed, 1 if not, and 2 after an error.`,
		Example: `  sluice policy simulate --caller 111122223333 --action sqs:SendMessage \
    --resource arn:aws:sqs:us-east-1:000000000000:orders \
    --resource-policy orders.json --context aws:SourceIp=10.1.2.3
  sluice policy simulate --user worker --queue jobs --action sqs:ReceiveMessage`,
		Args: noArguments,
		RunE: asked(func(cmd *cobra.Command, _ []string) error {
			stored, err := s.fetch(cmd.Context(), server)
			if err != nil {
				return err
			}
			request, err := s.request(time.Now())
			if err != nil {
				return err
			}
			if stored != nil {
				request.Identity, request.Boundary = append(request.Identity, stored.identity...), stored.boundary
			}
			x := policy.Explain(request)
			if err := out.print(cmd, decision{reportOf(&x, request), &x}); err != nil {
				return err
			}
			if !x.Allowed() {
				return errNotAllowed
			}
			return nil
		}),
	}
	s.add(cmd.Flags())
	must(cmd.MarkFlagRequired("action"))
	must(cmd.RegisterFlagCompletionFunc("user", completeUsers(server)))
	must(cmd.RegisterFlagCompletionFunc("role",
		func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return server.ask(cmd, func(ctx context.Context, c *client) ([]string, error) {
				return c.names(ctx, "ListRoles", "Roles>member>RoleName")
			})
		}))
	must(cmd.RegisterFlagCompletionFunc("queue", completeQueueFlag(server)))
	must(cmd.RegisterFlagCompletionFunc("action",
		func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return slices.Concat(sqs.Rules.Actions, admin.Rules.Actions), cobra.ShellCompDirectiveNoFileComp
		}))
	server.add(cmd, "IAM")
	onlyWith(cmd.PersistentFlags(), []string{"user", "role", "queue"}, "endpoint", "ca", "region", "profile")
	out.add(cmd)
	return cmd
}

// add adds the flags that describe the request and the policies.
func (s *simulation) add(f *pflag.FlagSet) {
	f.StringVar(&s.caller, "caller", "", "caller: an ARN, an account, or anonymous")
	f.StringVar(&s.action, "action", "", "action, such as sqs:SendMessage")
	f.StringVar(&s.resource, "resource", "", "ARN, or * for an action without a resource, such as sluice:DrainNode")
	f.StringArrayVar(&s.identity, "policy", nil, "file with a policy of the caller's own; repeatable")
	f.StringVar(&s.resourcePolicy, "resource-policy", "", "file with the policy of the resource")
	f.StringArrayVar(&s.context, "context", nil, "key for conditions, as aws:SourceIp=10.1.2.3; repeatable")
	f.StringVar(&s.user, "user", "", "user of a running server as the caller, with its policies")
	f.StringVar(&s.role, "role", "", "role of a running server as the caller, with its policies")
	f.StringVar(&s.queue, "queue", "", "queue of a running server as the resource, with its policy: name, URL or ARN")
	filePath(f, "policy", "resource-policy")
	notWith(f, "user", "caller", "role")
	notWith(f, "role", "caller")
	notWith(f, "queue", "resource", "resource-policy")
}
