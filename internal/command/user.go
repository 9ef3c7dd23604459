package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newUser() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "user",
		Short: "Create, list and delete users",
		Long: `Create, list and delete users of a running server.

These are shortcuts for aws iam, for those who do not have it. The account and
what may be done are those of the access key in the environment, in
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: mostly the root's, which sluice
serve prints when it starts.`,
	}
	addEndpoint(cmd, &endpoint)
	cmd.AddCommand(newUserCreate(&endpoint), newUserList(&endpoint), newUserDelete(&endpoint))
	return cmd
}

func newUserCreate(endpoint *string) *cobra.Command {
	var file, path string
	var managed []string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a user with an access key, and print the key",
		Long: `Create a user with an access key, and print the key as lines that can be pasted
into a shell. It is the only time that the secret can be seen.

Without --policy or --managed the user may do nothing.`,
		Example: `  sluice user create worker --managed AmazonSQSFullAccess
  sluice user create billing --policy billing.json`,
		Args: arguments("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newAPI(*endpoint)
			if err != nil {
				return err
			}
			document := ""
			if file != "" {
				text, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				document = string(text)
			}
			return createUser(cmd, a, args[0], path, document, managed)
		},
	}
	f := cmd.Flags()
	f.StringVar(&file, "policy", "", "file with a policy for the user")
	f.StringSliceVar(&managed, "managed", nil, "managed policy to attach, by its ARN or, of AWS's, its name; may be repeated")
	f.StringVar(&path, "path", "/", "path of the user")
	return cmd
}

// createUser leaves nothing behind if one of its steps is refused.
func createUser(cmd *cobra.Command, a *api, name, path, document string, managed []string) (err error) {
	ctx := cmd.Context()
	if err := a.iam(ctx, "CreateUser", nil, "UserName", name, "Path", path); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if undo := deleteUser(context.WithoutCancel(ctx), a, name); undo != nil {
				err = errors.Join(err, fmt.Errorf("the user %s is left incomplete: %w", name, undo))
			}
		}
	}()
	if document != "" {
		if err := a.iam(ctx, "PutUserPolicy", nil, "UserName", name, "PolicyName", name, "PolicyDocument", document); err != nil {
			return err
		}
	}
	for _, arn := range managed {
		if !strings.HasPrefix(arn, "arn:") {
			arn = "arn:aws:iam::aws:policy/" + arn
		}
		if err := a.iam(ctx, "AttachUserPolicy", nil, "UserName", name, "PolicyArn", arn); err != nil {
			return err
		}
	}
	var key struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	if err := a.iam(ctx, "CreateAccessKey", &key, "UserName", name); err != nil {
		return err
	}
	printKeys(cmd, key.ID, key.Secret)
	return nil
}

func printKeys(cmd *cobra.Command, id, secret string) {
	fmt.Fprintf(cmd.OutOrStdout(), "export AWS_ACCESS_KEY_ID=%s\nexport AWS_SECRET_ACCESS_KEY=%s\n", id, secret)
}

func newUserList(endpoint *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the users with their access keys",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newAPI(*endpoint)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "USER\tID\tCREATED\tACCESS KEYS")
			err = eachUser(cmd.Context(), a, func(u user) error {
				keys, err := keysOf(cmd.Context(), a, u.Name)
				if err != nil {
					return err
				}
				var shown []string
				for _, k := range keys {
					shown = append(shown, k.ID+" ("+strings.ToLower(k.Status)+")")
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", strings.TrimPrefix(u.Path, "/")+u.Name, u.ID, u.Created, strings.Join(shown, ", "))
				return nil
			})
			return errors.Join(err, w.Flush())
		},
	}
}

type user struct {
	Path    string
	Name    string `xml:"UserName"`
	ID      string `xml:"UserId"`
	Created string `xml:"CreateDate"`
}

// eachUser calls f with the users of the account.
func eachUser(ctx context.Context, a *api, f func(user) error) error {
	var params []string
	for {
		var page struct {
			Users  []user `xml:"ListUsersResult>Users>member"`
			Marker string `xml:"ListUsersResult>Marker"`
		}
		if err := a.iam(ctx, "ListUsers", &page, params...); err != nil {
			return err
		}
		for _, u := range page.Users {
			if err := f(u); err != nil {
				return err
			}
		}
		if page.Marker == "" {
			return nil
		}
		params = []string{"Marker", page.Marker}
	}
}

type accessKey struct {
	ID     string `xml:"AccessKeyId"`
	Status string
}

func keysOf(ctx context.Context, a *api, user string) ([]accessKey, error) {
	var page struct {
		Keys []accessKey `xml:"ListAccessKeysResult>AccessKeyMetadata>member"`
	}
	err := a.iam(ctx, "ListAccessKeys", &page, "UserName", user) // there are two at most
	return page.Keys, err
}

func newUserDelete(endpoint *string) *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a user with its access keys, policies and memberships",
		Args:  arguments("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newAPI(*endpoint)
			if err != nil {
				return err
			}
			return deleteUser(cmd.Context(), a, args[0])
		},
	}
}

// deleteUser deletes a user and all that hangs on it. The keys go first: whatever
// fails later, they are good for nothing any more.
func deleteUser(ctx context.Context, a *api, name string) error {
	keys, err := keysOf(ctx, a, name)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := a.iam(ctx, "DeleteAccessKey", nil, "UserName", name, "AccessKeyId", k.ID); err != nil {
			return err
		}
	}
	for _, what := range []struct{ list, path, remove, parameter string }{
		{"ListUserPolicies", "PolicyNames>member", "DeleteUserPolicy", "PolicyName"},
		{"ListAttachedUserPolicies", "AttachedPolicies>member>PolicyArn", "DetachUserPolicy", "PolicyArn"},
		{"ListGroupsForUser", "Groups>member>GroupName", "RemoveUserFromGroup", "GroupName"},
	} {
		names, err := a.names(ctx, what.list, what.path, "UserName", name)
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := a.iam(ctx, what.remove, nil, "UserName", name, what.parameter, n); err != nil {
				return err
			}
		}
	}
	return a.iam(ctx, "DeleteUser", nil, "UserName", name)
}
