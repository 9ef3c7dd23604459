package admin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type createAccountInput struct {
	AccountId *string `max:"64"` // one is drawn if it is absent
}

type createAccountOutput struct {
	AccountId       string
	AccessKeyId     string // of the account's root
	SecretAccessKey string `hidden:""`
}

func (s *Service) createAccount(
	ctx context.Context, c *protocol.Call, in *createAccountInput,
) (*createAccountOutput, error) {
	if err := s.allow(c); err != nil {
		return nil, err
	}
	account := draw()
	if in.AccountId != nil {
		account = *in.AccountId
	}
	if !identity.IsAccount(account) {
		return nil, errNoNumber(account)
	}
	c.Notes.Set("target", account)
	root, err := s.accounts.Create(ctx, account)
	switch {
	case errors.Is(err, identity.ErrAccountExists):
		return nil, refusal("AccountAlreadyExists", http.StatusConflict,
			"The account %s exists already.", account)
	case err != nil:
		return nil, failure(err)
	}
	return &createAccountOutput{AccountId: account, AccessKeyId: root.AccessKeyID, SecretAccessKey: root.Secret}, nil
}

func errNoNumber(account string) error {
	return protocol.ValidationError("The account %.100q is not a number of 12 digits.", account)
}

// draw returns an account number that does not begin with a zero.
func draw() string {
	const least, span = 100_000_000_000, 900_000_000_000
	n, err := rand.Int(rand.Reader, big.NewInt(span))
	if err != nil {
		panic(err) // the source never fails
	}
	return fmt.Sprint(least + n.Int64())
}

// Account is an account of this server.
type Account struct {
	AccountId   string
	AccessKeyId string // of its root
}

type listAccountsOutput struct {
	Accounts []Account `json:",always"`
}

func (s *Service) listAccounts(_ context.Context, c *protocol.Call, _ *service.Empty) (*listAccountsOutput, error) {
	if err := s.allow(c); err != nil {
		return nil, err
	}
	out := new(listAccountsOutput)
	for _, account := range s.accounts.Accounts() {
		root, _ := s.accounts.Root(account)
		out.Accounts = append(out.Accounts, Account{account, root.AccessKeyID})
	}
	return out, nil
}

type deleteAccountInput struct {
	AccountId *string `max:"64"`
}

// deleteAccount deletes an account that owns nothing. A concurrent request
// of the account may still create one; it reappears if the account is created again.
func (s *Service) deleteAccount(ctx context.Context, c *protocol.Call, in *deleteAccountInput) (*service.Empty, error) {
	if err := s.allow(c); err != nil {
		return nil, err
	}
	var v protocol.Violations
	account := v.Required("accountId", in.AccountId)
	if err := v.Err(); err != nil {
		return nil, err
	}
	c.Notes.Set("target", account)
	switch has := s.belongings(account); {
	case !identity.IsAccount(account):
		return nil, errNoNumber(account)
	case account == s.authorizer.operator:
		return nil, protocol.ValidationError("The account %s is the first of this server and cannot be deleted.", account)
	case slices.Contains(s.named, account):
		return nil, protocol.ValidationError(
			"The account %s is named by --account, and would be created again at the next start. First start the server without that flag.",
			account,
		)
	case len(has) > 0:
		return nil, refusal("AccountNotEmpty", http.StatusConflict,
			"The account %s still has %s. Delete them first.", account, strings.Join(has, ", "))
	}
	if s.directory.Alias(account) != "" {
		if err := s.directory.Change(ctx, func(tx *directory.Tx) error {
			tx.SetAlias(account, "")
			return nil
		}); err != nil {
			return nil, failure(err)
		}
	}
	if err := s.forgetLimits(ctx, account); err != nil {
		return nil, err
	}
	// A later owner of the number must find nothing of this account.
	if err := s.forget(ctx, account); err != nil {
		return nil, failure(err)
	}
	switch err := s.accounts.Delete(ctx, account); {
	case errors.Is(err, identity.ErrNoAccount):
		return nil, errNoAccount(account)
	case err != nil:
		return nil, failure(err)
	}
	return nil, nil
}

// belongings describes the resources of an account, one phrase per kind: "2 users (bob, eve)".
func (s *Service) belongings(account string) []string {
	var has []string
	add := func(kind string, names []string) {
		const most = 5
		shown := strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			shown += ", ..."
		}
		switch len(names) {
		case 0:
		case 1:
			has = append(has, fmt.Sprintf("1 %s (%s)", kind, shown))
		default:
			has = append(has, fmt.Sprintf("%d %s (%s)", len(names), plural(kind), shown))
		}
	}
	add("queue", s.queues(account))
	add("topic", s.topics(account))
	for _, kind := range []directory.Kind{
		directory.User, directory.Group, directory.Role, directory.Profile, directory.Provider,
	} {
		var names []string
		for _, e := range s.directory.List(kind, account) {
			names = append(names, e.Name)
		}
		add(string(kind), names)
	}
	var names []string
	for _, p := range s.directory.Policies(account) {
		names = append(names, p.Name)
	}
	add("policy", names)
	for _, b := range s.belongs {
		add(b.Kind, b.Names(account))
	}
	return has
}

func plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return stem + "ies"
	}
	return noun + "s"
}
