package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

func newAccount() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "account",
		Short: "Create, list and delete accounts",
		Long: `Create, list and delete accounts of a running server.

This takes the root key of the server's first account, or that of a user of it who
may sluice:CreateAccount, sluice:ListAccounts or sluice:DeleteAccount. The root keys
of all accounts are in the file credentials of the data directory; an account exists
as long as it is there.`,
	}
	server.add(cmd, "SLUICE")
	cmd.AddCommand(newAccountCreate(server), newAccountList(server), newAccountDelete(server))
	return cmd
}

func newAccountCreate(server *clientFlags) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "create [NUMBER]",
		Short: "Create an account, and print the key of its root",
		Long: `Create an account, and print the key of its root as lines that can be pasted
into a shell. Without a number of 12 digits one is drawn.`,
		Example: `  sluice account create
  sluice account create 111122223333`,
		Args: arguments("[NUMBER]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.client()
			if err != nil {
				return err
			}
			in := make(map[string]string)
			if len(args) > 0 {
				in["AccountId"] = args[0]
			}
			var made newKey
			if err := c.sluice(cmd.Context(), "CreateAccount", in, &made); err != nil {
				return err
			}
			return out.print(cmd, made)
		},
	}
	out.add(cmd)
	return cmd
}

// accountList is the answer of account list.
type accountList struct {
	Accounts []struct{ AccountId, AccessKeyId string }
}

func listAccounts(ctx context.Context, c *client) (*accountList, error) {
	list := new(accountList)
	return list, c.sluice(ctx, "ListAccounts", struct{}{}, list)
}

func (l *accountList) text(w io.Writer) error {
	var rows [][]string
	for _, one := range l.Accounts {
		rows = append(rows, []string{one.AccountId, one.AccessKeyId})
	}
	return printTable(w, []string{"ACCOUNT", "ROOT ACCESS KEY"}, rows)
}

func newAccountList(server *clientFlags) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the accounts with the keys of their roots",
		Example: `  sluice account list`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := server.client()
			if err != nil {
				return err
			}
			list, err := listAccounts(cmd.Context(), c)
			if err != nil {
				return err
			}
			return out.print(cmd, list)
		},
	}
	out.add(cmd)
	return cmd
}

func newAccountDelete(server *clientFlags) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "delete NUMBER",
		Short: "Delete an account that has nothing any more",
		Long: `Delete an account that has nothing any more: no queues, users, groups, roles or
policies. What it still has is named. Its root key is good for nothing from then
on. The first account cannot be deleted.`,
		Example: `  sluice account delete 111122223333`,
		Args:    arguments("NUMBER"),
		ValidArgsFunction: server.completeNames(func(ctx context.Context, c *client) ([]string, error) {
			list, err := listAccounts(ctx, c)
			var numbers []string
			for _, one := range list.Accounts {
				numbers = append(numbers, one.AccountId)
			}
			return numbers, err
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.client()
			if err != nil {
				return err
			}
			if err := c.sluice(cmd.Context(), "DeleteAccount", map[string]string{"AccountId": args[0]}, nil); err != nil {
				return err
			}
			return out.print(cmd, done{"account " + args[0] + " is deleted"})
		},
	}
	out.add(cmd)
	return cmd
}
