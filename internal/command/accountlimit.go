package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// limitFlags holds the flags of limits, with the server's names of the limits.
var limitFlags = []struct{ flag, name, help string }{
	{"sends", "SendsPerSecond", "messages sent or published in a second"},
	{"receives", "ReceivesPerSecond", "messages received in a second"},
	{"requests", "ConcurrentRequests", "requests in progress at a time, including long polls"},
	{"messages", "StoredMessages", "messages in all queues together"},
	{"bytes", "StoredBytes", "bytes of these messages, such as 20GiB"},
	{"queues", "Queues", "queues in all regions together"},
	{"topics", "Topics", "topics in all regions together"},
	{"subscriptions", "Subscriptions", "subscriptions in all regions together"},
}

func newAccountLimit(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limit",
		Short: "Limit what accounts and users may use",
		Long: `Limit what an account, or one of its users, may use. A user can have limits of sends,
receives and requests, in addition to those of its account.

Needs sluice:SetLimits, sluice:ListLimits, sluice:GetLimits or sluice:DeleteLimits in
the first account.`,
	}
	cmd.AddCommand(newAccountLimitSet(server), newAccountLimitShow(server), newAccountLimitRemove(server))
	return cmd
}

// limited is an account or user with its limits.
type limited struct {
	AccountId string
	UserName  string `json:",omitempty"`
	Limits    map[string]int64
	Used      map[string]float64
	Refused   map[string]int64
}

// rows returns a line for each limit, in the order of the flags.
func (l *limited) rows() (rows [][]string) {
	who := l.AccountId
	if l.UserName != "" {
		who += "/" + l.UserName
	}
	for _, f := range limitFlags {
		if most, ok := l.Limits[f.name]; ok {
			used, refused := limitText(f.flag, l.Used[f.name]), strconv.FormatInt(l.Refused[f.name], 10)
			rows = append(rows, []string{who, f.flag, limitText(f.flag, float64(most)), used, refused})
		}
	}
	return rows
}

// limitText formats an amount for people.
func limitText(flag string, n float64) string {
	whole := int64(math.Round(n))
	if flag == "bytes" {
		return byteCount{&whole}.String()
	}
	return strconv.FormatInt(whole, 10)
}

// limitedList is an answer about several accounts or users.
type limitedList struct{ Limits []*limited }

func (l *limitedList) text(w io.Writer) error {
	var rows [][]string
	for _, one := range l.Limits {
		rows = append(rows, one.rows()...)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "there are no limits")
		return err
	}
	return printTable(w, []string{"ACCOUNT", "LIMIT", "AT MOST", "USED", "REFUSED"}, rows)
}

// limitSubject returns the parameters that name an account, or a user of it.
func limitSubject(account, user string) map[string]any {
	in := map[string]any{"AccountId": account}
	if user != "" {
		in["UserName"] = user
	}
	return in
}

func addLimitUser(f *pflag.FlagSet, user *string) {
	f.StringVar(user, "user", "", "a user of the account")
}

func newAccountLimitSet(server *clientFlags) *cobra.Command {
	var user string
	most := make(map[string]*int64)
	cmd := &cobra.Command{
		Use:   "set NUMBER",
		Short: "Set limits of an account, or of a user",
		Long:  `Set limits of an account or user. Others stay unchanged. A limit of 0 allows nothing.`,
		Example: `  sluice account limit set 111122223333 --sends 100 --bytes 20GiB --queues 50
  sluice account limit set 111122223333 --user bob --sends 10`,
		Args:              arguments("NUMBER"),
		ValidArgsFunction: completeAccounts(server),
	}
	f := cmd.Flags()
	for _, l := range limitFlags {
		n := int64(-1)
		most[l.name] = &n
		f.Var(limitValue(l.flag, &n), l.flag, l.help)
	}
	addLimitUser(f, &user)
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		in, limits := limitSubject(c.args[0], user), make(map[string]int64)
		for name, n := range most {
			if *n >= 0 {
				limits[name] = *n
			}
		}
		if len(limits) == 0 {
			return nil, usage(errors.New("the limit is missing: want a flag such as --sends 100"))
		}
		in["Limits"] = limits
		set := new(limited)
		return answerOr(&limitedList{[]*limited{set}}, c.sluice(ctx, "SetLimits", in, set))
	})
}

// limitValue is the value of a flag: a number, or a number of bytes.
func limitValue(flag string, n *int64) pflag.Value {
	if flag == "bytes" {
		return byteCount{n}
	}
	return limitNumber{n}
}

// limitNumber is the value of a flag: a number from 0 on.
type limitNumber struct{ n *int64 }

func (l limitNumber) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return errors.New("want a whole number, at least 0")
	}
	*l.n = n
	return nil
}

// String returns nothing for a negative number, which stands for no limit.
func (l limitNumber) String() string {
	if l.n == nil || *l.n < 0 {
		return ""
	}
	return strconv.FormatInt(*l.n, 10)
}

func (l limitNumber) Type() string { return "number" }

func newAccountLimitShow(server *clientFlags) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "show [NUMBER]",
		Short: "Show limits and their use",
		Long: `Show limits, their use on all nodes, and how many requests the node that answers has
refused since its start. Without a number, it shows all accounts and users with limits.`,
		Example: `  sluice account limit show
  sluice account limit show 111122223333 --user bob`,
		Args:              arguments("[NUMBER]"),
		ValidArgsFunction: completeAccounts(server),
	}
	addLimitUser(cmd.Flags(), &user)
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		switch {
		case len(c.args) > 0:
			one := new(limited)
			return answerOr(
				&limitedList{[]*limited{one}}, c.sluice(ctx, "GetLimits", limitSubject(c.args[0], user), one),
			)
		case user != "":
			return nil, usage(errors.New("the account of the user is missing: want its number"))
		}
		return answerOr(listLimits(ctx, c.client))
	})
}

// listLimits returns all accounts and users that have limits.
func listLimits(ctx context.Context, c *client) (*limitedList, error) {
	all := &limitedList{Limits: []*limited{}}
	in := make(map[string]any)
	for {
		var page struct {
			limitedList
			NextToken string
		}
		if err := c.sluice(ctx, "ListLimits", in, &page); err != nil {
			return nil, err
		}
		all.Limits = append(all.Limits, page.Limits...)
		if page.NextToken == "" {
			return all, nil
		}
		in["NextToken"] = page.NextToken
	}
}

func newAccountLimitRemove(server *clientFlags) *cobra.Command {
	var user string
	var only []string
	cmd := &cobra.Command{
		Use:   "remove NUMBER",
		Short: "Remove limits of an account, or of a user",
		Example: `  sluice account limit remove 111122223333
  sluice account limit remove 111122223333 --user bob --only sends,receives`,
		Args:              arguments("NUMBER"),
		ValidArgsFunction: completeAccounts(server),
	}
	f := cmd.Flags()
	addLimitUser(f, &user)
	f.StringSliceVar(&only, "only", nil, "only these limits, named as the flags of set")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		in := limitSubject(c.args[0], user)
		names, err := limitNames(only)
		if err != nil {
			return nil, usage(err)
		}
		if len(names) > 0 {
			in["Names"] = names
		}
		left := new(limited)
		return answerOr(&limitedList{[]*limited{left}}, c.sluice(ctx, "DeleteLimits", in, left))
	})
}

// limitNames returns the server's names of the limits of flags.
func limitNames(flags []string) (names []string, err error) {
	known := make(map[string]string, len(limitFlags))
	for _, l := range limitFlags {
		known[l.flag] = l.name
	}
	for _, flag := range flags {
		if known[flag] == "" {
			return nil, fmt.Errorf(
				"--only %s: want some of %s", flag, strings.Join(slices.Sorted(maps.Keys(known)), ", "),
			)
		}
		names = append(names, known[flag])
	}
	return names, nil
}

// completeAccounts completes the numbers of the accounts.
func completeAccounts(server *clientFlags) cobra.CompletionFunc {
	return server.completeNames(func(ctx context.Context, c *client) ([]string, error) {
		list, err := listAccounts(ctx, c)
		var numbers []string
		for _, one := range list.Accounts {
			numbers = append(numbers, one.AccountId)
		}
		return numbers, err
	})
}
