// Package admin is the part of the server's own API that AWS has no operations
// for: its accounts, and the cluster that it belongs to. It speaks JSON, as the service "sluice".
//
// Only the root of the first account, with its long-term key, may call it.
package admin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net/http"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// ServiceName is that of the service in requests and their signatures.
const ServiceName = "sluice"

// Service administers accounts.
type Service struct {
	accounts *identity.Credentials
	operator string // the account whose root may do so
	cluster  Cluster
}

// New returns the service's wire form. A nil cluster is that of a server which is
// alone.
func New(accounts *identity.Credentials, operator string, cluster Cluster) *protocol.Service {
	s := &Service{accounts: accounts, operator: operator, cluster: cluster}
	wire := protocol.NewService(protocol.Service{Name: ServiceName, Target: "Sluice", ErrorNamespace: "sluice"})
	protocol.Register(wire, "CreateAccount", s.createAccount, protocol.Control)
	protocol.Register(wire, "DescribeCluster", s.describeCluster)
	protocol.Register(wire, "DrainNode", s.drainNode, protocol.Control)
	protocol.Register(wire, "ListAccounts", s.listAccounts)
	protocol.Register(wire, "RemoveNode", s.removeNode, protocol.Control)
	return wire
}

// allow makes sure that the caller is the operator.
func (s *Service) allow(c *protocol.Call) error {
	id, _ := c.Identity.(identity.Identity)
	if id.Root && id.Account == s.operator && id.Session == nil {
		return nil
	}
	return protocol.AccessDenied("User: %s is not authorized to perform: sluice:%s; that takes the root key of the account %s",
		id.ARN, c.Operation, s.operator)
}

type createAccountInput struct {
	AccountId *string // one is drawn if it is absent
}

type createAccountOutput struct {
	AccountId       string
	AccessKeyId     string // of the account's root
	SecretAccessKey string
}

func (s *Service) createAccount(_ context.Context, c *protocol.Call, in *createAccountInput) (*createAccountOutput, error) {
	if err := s.allow(c); err != nil {
		return nil, err
	}
	account := ""
	if in.AccountId != nil {
		account = *in.AccountId
	} else {
		account = draw()
	}
	if !identity.IsAccount(account) {
		return nil, protocol.ValidationError("The account %.100q is not a number of 12 digits.", account)
	}
	root, err := s.accounts.Create(account)
	switch {
	case errors.Is(err, identity.ErrAccountExists):
		return nil, &protocol.Error{
			Code: "AccountAlreadyExists", Type: "AccountAlreadyExistsException", Status: http.StatusConflict,
			Message: fmt.Sprintf("The account %s exists already.", account),
		}
	case err != nil:
		return nil, errors.Join(protocol.ServiceUnavailable(), err)
	}
	return &createAccountOutput{AccountId: account, AccessKeyId: root.AccessKeyID, SecretAccessKey: root.Secret}, nil
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

type empty struct{}

// Account is an account of this server.
type Account struct {
	AccountId   string
	AccessKeyId string // of its root
}

type listAccountsOutput struct {
	Accounts []Account `json:",always"`
}

func (s *Service) listAccounts(_ context.Context, c *protocol.Call, _ *empty) (*listAccountsOutput, error) {
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
