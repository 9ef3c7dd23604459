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
		Short: "Create, list, limit and delete accounts",
		Long: `Create, list, limit and delete accounts of a running server.

Needs sluice:CreateAccount, sluice:ListAccounts or sluice:DeleteAccount in the first
account.`,
	}
	server.add(cmd, "SLUICE")
	cmd.AddCommand(newAccountCreate(server), newAccountList(server), newAccountDelete(server), newAccountLimit(server))
	return cmd
}

func newAccountCreate(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create [NUMBER]",
		Short: "Create an account, and print the key of its root",
		Long: `Create an account, and print the key of its root as lines for a shell. NUMBER has
12 digits, by default random ones.`,
		Example: `  sluice account create
  sluice account create 111122223333`,
		Args: arguments("[NUMBER]"),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		in := make(map[string]string)
		if len(c.args) > 0 {
			in["AccountId"] = c.args[0]
		}
		var made newKey
		if err := c.sluice(ctx, "CreateAccount", in, &made); err != nil {
			return nil, err
		}
		return made, nil
	})
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
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the accounts with the keys of their roots",
		Example: `  sluice account list`,
		Args:    noArguments,
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		return answerOr(listAccounts(ctx, c.client))
	})
}

func newAccountDelete(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete NUMBER",
		Short: "Delete an empty account",
		Long: `Delete an account that owns nothing: no queues, topics, users, alarms and so on. Its root
key stops working, and its events and metrics go. The first account cannot be deleted.`,
		Example:           `  sluice account delete 111122223333`,
		Args:              arguments("NUMBER"),
		ValidArgsFunction: completeAccounts(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if err := c.sluice(ctx, "DeleteAccount", map[string]string{"AccountId": c.args[0]}, nil); err != nil {
			return nil, err
		}
		return done{"account " + c.args[0] + " is deleted"}, nil
	})
}
