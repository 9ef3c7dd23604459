package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// newKey is the answer of a command that has created a key.
type newKey struct {
	AccountId       string `json:",omitempty"` // if it was made with the key
	AccessKeyId     string
	SecretAccessKey string
	Replaces        []string `json:",omitempty"` // working keys
}

// text prints lines for a shell.
func (k newKey) text(w io.Writer) error {
	if k.AccountId != "" {
		fmt.Fprintf(w, "# account %s\n", k.AccountId)
	}
	_, err := fmt.Fprintf(w, "export AWS_ACCESS_KEY_ID=%s\nexport AWS_SECRET_ACCESS_KEY=%s\n", k.AccessKeyId, k.SecretAccessKey)
	for _, old := range k.Replaces {
		fmt.Fprintf(w, "# %s still works: delete it when every program has the new one\n", old)
	}
	return err
}

// accessKey is the visible part of a key.
type accessKey struct {
	AccessKeyId string
	Status      string // Active or Inactive
	CreateDate  string
}

func keysOf(ctx context.Context, c *client, user string) ([]accessKey, error) {
	var page struct {
		Keys []accessKey `xml:"ListAccessKeysResult>AccessKeyMetadata>member"`
	}
	err := c.iam(ctx, "ListAccessKeys", &page, "UserName", user) // there are two at most
	return page.Keys, err
}

func createKey(ctx context.Context, c *client, user string) (newKey, error) {
	var key struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	err := c.iam(ctx, "CreateAccessKey", &key, "UserName", user)
	return newKey{AccessKeyId: key.ID, SecretAccessKey: key.Secret}, err
}

func newUserKey(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Create, rotate and delete access keys of a user",
		Long: `Create, rotate and delete access keys of a user. A user has two at most, so that one can
be replaced while the other works.`,
	}
	cmd.AddCommand(newKeyCreate(server), newKeyRotate(server), newKeyDelete(server))
	return cmd
}

func newKeyCreate(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create an access key for a user, and print it",
		Long: `Create an access key for a user, and print it as lines for a shell. The secret is
printed only once.`,
		Example:           `  sluice user key create worker`,
		Args:              arguments("NAME"),
		ValidArgsFunction: completeUsers(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		return answerOr(createKey(ctx, c.client, c.args[0]))
	})
}

func newKeyRotate(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rotate NAME",
		Short: "Create a second access key, to replace the first",
		Long: `Create a second access key for a user, and print it. The old one works until sluice user
key delete. Inactive keys are deleted first.`,
		Example: `  sluice user key rotate worker
  sluice user key delete worker AKIAIOSFODNN7EXAMPLE`,
		Args:              arguments("NAME"),
		ValidArgsFunction: completeUsers(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		return answerOr(rotateKey(ctx, c.client, c.args[0]))
	})
}

func rotateKey(ctx context.Context, c *client, name string) (newKey, error) {
	keys, err := keysOf(ctx, c, name)
	if err != nil {
		return newKey{}, err
	}
	var old []string
	for _, k := range keys {
		if k.Status == "Active" {
			old = append(old, k.AccessKeyId)
		}
	}
	if len(old) > 1 {
		return newKey{}, fmt.Errorf(
			"the user %s has two active keys already: delete the one that no program uses any more; sluice user show "+
				"%s says when each was used",
			name,
			name,
		)
	}
	for _, k := range keys {
		if k.Status == "Active" {
			continue
		}
		if err := c.iam(ctx, "DeleteAccessKey", nil, "UserName", name, "AccessKeyId", k.AccessKeyId); err != nil {
			return newKey{}, err
		}
	}
	key, err := createKey(ctx, c, name)
	key.Replaces = old
	return key, err
}

func newKeyDelete(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "delete NAME KEY",
		Short:             "Delete an access key of a user",
		Example:           `  sluice user key delete worker AKIAIOSFODNN7EXAMPLE`,
		Args:              arguments("NAME", "KEY"),
		ValidArgsFunction: completeUserKeys(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if err := c.iam(ctx, "DeleteAccessKey", nil, "UserName", c.args[0], "AccessKeyId", c.args[1]); err != nil {
			return nil, err
		}
		return done{fmt.Sprintf("key %s of user %s is deleted", c.args[1], c.args[0])}, nil
	})
}

// completeUserKeys completes users for the first argument and the user's keys for the second.
func completeUserKeys(server *clientFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return completeUsers(server)(cmd, args, prefix)
		}
		return server.ask(cmd, func(ctx context.Context, c *client) ([]string, error) {
			return c.names(ctx, "ListAccessKeys", "AccessKeyMetadata>member>AccessKeyId", "UserName", args[0])
		})
	}
}

// newUserSwitch is user deactivate or user activate.
func newUserSwitch(server *clientFlags, on bool) *cobra.Command {
	name, status, short := "deactivate", "Inactive", "Deactivate a user's keys until they are activated again"
	long := short + `: the named one, or all.

Temporary keys of the user stay valid until they expire or the user is deleted.`
	if on {
		name, status, short = "activate", "Active", "Activate a user's keys again"
		long = short + ": the named one, or all."
	}
	cmd := &cobra.Command{
		Use:     name + " NAME [KEY]",
		Short:   short,
		Long:    long,
		Example: "  sluice user " + name + " worker\n  sluice user " + name + " worker AKIAIOSFODNN7EXAMPLE",
		Args:    arguments("NAME", "[KEY]"), ValidArgsFunction: completeUserKeys(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		keys := c.args[1:]
		if len(keys) == 0 {
			var err error
			if keys, err = c.names(
				ctx, "ListAccessKeys", "AccessKeyMetadata>member>AccessKeyId", "UserName", c.args[0],
			); err != nil {
				return nil, err
			}
		}
		for _, key := range keys {
			if err := c.iam(
				ctx, "UpdateAccessKey", nil, "UserName", c.args[0], "AccessKeyId", key, "Status", status,
			); err != nil {
				return nil, err
			}
		}
		changed := cmp.Or(strings.Join(keys, ", "), "nothing: it has no key")
		return done{fmt.Sprintf("user %s: %sd %s", c.args[0], name, changed)}, nil
	})
}
