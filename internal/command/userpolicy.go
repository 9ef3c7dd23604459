package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// policyFlags are policies for a user: managed ones and an inline one in a file.
type policyFlags struct {
	managed  []string
	file     string
	document string // of the file
}

// awsPolicies is the beginning of the ARNs of AWS's own managed policies.
const awsPolicies = "arn:aws:iam::aws:policy/"

// commonPolicies are the policies that a shell completes.
var commonPolicies = []string{
	"AWSCloudTrail_FullAccess",
	"AWSCloudTrail_ReadOnlyAccess",
	"AdministratorAccess",
	"AmazonSNSFullAccess",
	"AmazonSNSReadOnlyAccess",
	"AmazonSQSFullAccess",
	"AmazonSQSReadOnlyAccess",
	"CloudWatchFullAccessV2",
	"CloudWatchReadOnlyAccess",
	"IAMFullAccess",
	"IAMReadOnlyAccess",
}

func (p *policyFlags) addFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "policy", "", "file with an inline policy, which gets the file's name")
	filePath(cmd.Flags(), "policy")
}

func (p *policyFlags) addManaged(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&p.managed, "managed", nil,
		"managed policy to attach, by its ARN, or AWS's by its name; repeatable")
	must(cmd.RegisterFlagCompletionFunc("managed", completeManaged))
}

func completeManaged(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return commonPolicies, cobra.ShellCompDirectiveNoFileComp
}

// read reads the file, and warns about parts without effect. The server decides whether it is a valid policy.
func (p *policyFlags) read(warnings io.Writer) error {
	if p.file == "" {
		return nil
	}
	text, err := os.ReadFile(p.file)
	if err != nil {
		return err
	}
	p.document = string(text)
	if parsed, err := policy.Parse(policy.ForIdentity, p.document); err == nil {
		for _, w := range parsed.Warnings("", services()...) {
			fmt.Fprintf(warnings, "warning: %s: %s\n", p.file, w)
		}
	}
	return nil
}

// attach adds the policies to a user.
func (p *policyFlags) attach(ctx context.Context, c *client, user string) error {
	if p.file != "" {
		base := filepath.Base(p.file)
		name := strings.TrimSuffix(base, filepath.Ext(base))
		if err := c.iam(
			ctx, "PutUserPolicy", nil, "UserName", user, "PolicyName", name, "PolicyDocument", p.document,
		); err != nil {
			return err
		}
	}
	for _, policy := range p.managed {
		if err := c.iam(ctx, "AttachUserPolicy", nil, "UserName", user, "PolicyArn", policyARN(policy)); err != nil {
			return err
		}
	}
	return nil
}

// policyARN returns the ARN of a managed policy, given its ARN or, for one of AWS's, its name.
func policyARN(text string) string {
	if strings.HasPrefix(text, "arn:") {
		return text
	}
	return awsPolicies + text
}

func newUserAttach(server *clientFlags) *cobra.Command {
	var policies policyFlags
	cmd := &cobra.Command{
		Use:   "attach NAME [POLICY...]",
		Short: "Attach policies to a user",
		Long: `Attach policies to a user: managed ones by their ARN, or AWS's by their name, and an
inline one from a file, which replaces one of the same name.`,
		Example: `  sluice user attach worker AmazonSQSReadOnlyAccess
  sluice user attach worker --policy billing.json`,
		Args: arguments("NAME", "[POLICY...]"),
		ValidArgsFunction: func(
			cmd *cobra.Command, args []string, prefix string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return completeManaged(cmd, args, prefix)
			}
			return completeUsers(server)(cmd, args, prefix)
		},
	}
	policies.addFile(cmd)
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if policies.managed = c.args[1:]; len(policies.managed) == 0 && policies.file == "" {
			return nil, usage(errors.New("nothing to attach: name a POLICY, or give --policy"))
		}
		if err := policies.read(c.warnings); err != nil {
			return nil, err
		}
		if err := policies.attach(ctx, c.client, c.args[0]); err != nil {
			return nil, err
		}
		return done{"user " + c.args[0] + " has the policies"}, nil
	})
}

func newUserDetach(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "detach NAME POLICY...",
		Short: "Detach policies from a user",
		Long: `Detach policies from a user: inline ones by their names, managed ones by ARN,
and AWS's also by name.`,
		Example: `  sluice user detach worker AmazonSQSReadOnlyAccess billing`,
		Args:    arguments("NAME", "POLICY..."),
		ValidArgsFunction: func(
			cmd *cobra.Command, args []string, prefix string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return completeUsers(server)(cmd, args, prefix)
			}
			return server.ask(cmd, func(ctx context.Context, c *client) ([]string, error) {
				u, err := getUser(ctx, c, args[0])
				if err != nil {
					return nil, err
				}
				return slices.Concat(u.InlinePolicies, u.AttachedPolicies), nil
			})
		},
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if err := detachPolicies(ctx, c.client, c.args[0], c.args[1:]); err != nil {
			return nil, err
		}
		return done{fmt.Sprintf("user %s no longer has %s", c.args[0], strings.Join(c.args[1:], ", "))}, nil
	})
}

// detachPolicies detaches nothing if the user does not have all of the policies.
func detachPolicies(ctx context.Context, c *client, name string, policies []string) error {
	u, err := getUser(ctx, c, name)
	if err != nil {
		return err
	}
	for _, policy := range policies {
		if !slices.Contains(u.InlinePolicies, policy) && !slices.Contains(u.AttachedPolicies, policyARN(policy)) {
			return fmt.Errorf(
				"the user %s has no policy %s; it has %s",
				name,
				policy,
				orDash(strings.Join(slices.Concat(u.InlinePolicies, u.AttachedPolicies), ", ")),
			)
		}
	}
	for _, policy := range policies {
		action, parameter := "DeleteUserPolicy", "PolicyName"
		if !slices.Contains(u.InlinePolicies, policy) {
			action, parameter, policy = "DetachUserPolicy", "PolicyArn", policyARN(policy)
		}
		if err := c.iam(ctx, action, nil, "UserName", name, parameter, policy); err != nil {
			return err
		}
	}
	return nil
}

// inlinePolicy returns the text of an inline policy; kind is User, Group or Role.
func inlinePolicy(ctx context.Context, c *client, kind, name, policy string) (string, error) {
	return c.document(ctx, "Get"+kind+"Policy", "PolicyDocument", kind+"Name", name, "PolicyName", policy)
}

// managedPolicy returns the current text of a managed policy.
func managedPolicy(ctx context.Context, c *client, arn string) (string, error) {
	versions, err := c.names(ctx, "GetPolicy", "Policy>DefaultVersionId", "PolicyArn", arn)
	if err != nil {
		return "", err
	}
	if len(versions) != 1 {
		return "", fmt.Errorf("GetPolicy: the answer does not say which version of %s is in force", arn)
	}
	return c.document(ctx, "GetPolicyVersion", "PolicyVersion>Document", "PolicyArn", arn, "VersionId", versions[0])
}

// document calls an operation and returns the policy at path in its result.
func (c *client) document(ctx context.Context, action, path string, params ...string) (string, error) {
	texts, err := c.names(ctx, action, path, params...)
	if err != nil {
		return "", err
	}
	if len(texts) != 1 {
		return "", fmt.Errorf("%s: the answer has no policy", action)
	}
	return url.PathUnescape(texts[0])
}
