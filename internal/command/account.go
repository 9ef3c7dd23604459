package command

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newAccount() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "account",
		Short: "Create and list accounts",
		Long: `Create and list accounts of a running server.

This takes the root key of the server's first account, in AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, or that of a user of it who may
sluice:CreateAccount, sluice:DeleteAccount or sluice:ListAccounts. The root keys of all accounts are in the file credentials
of the data directory; an account exists as long as it is there.`,
	}
	addEndpoint(cmd, &endpoint)
	cmd.AddCommand(newAccountCreate(&endpoint), newAccountList(&endpoint))
	return cmd
}

func newAccountCreate(endpoint *string) *cobra.Command {
	return &cobra.Command{
		Use:   "create [NUMBER]",
		Short: "Create an account, and print the key of its root",
		Long: `Create an account, and print the key of its root as lines that can be pasted
into a shell. Without a number of 12 digits one is drawn.`,
		Args: arguments("[NUMBER]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newAPI(*endpoint)
			if err != nil {
				return err
			}
			in := make(map[string]string)
			if len(args) > 0 {
				in["AccountId"] = args[0]
			}
			var made struct{ AccountId, AccessKeyId, SecretAccessKey string }
			if err := a.sluice(cmd.Context(), "CreateAccount", in, &made); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "# account %s\n", made.AccountId)
			printKeys(cmd, made.AccessKeyId, made.SecretAccessKey)
			return nil
		},
	}
}

func newAccountList(endpoint *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the accounts with the keys of their roots",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newAPI(*endpoint)
			if err != nil {
				return err
			}
			var list struct {
				Accounts []struct{ AccountId, AccessKeyId string }
			}
			if err := a.sluice(cmd.Context(), "ListAccounts", struct{}{}, &list); err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ACCOUNT\tROOT ACCESS KEY")
			for _, one := range list.Accounts {
				fmt.Fprintf(w, "%s\t%s\n", one.AccountId, one.AccessKeyId)
			}
			return w.Flush()
		},
	}
}
