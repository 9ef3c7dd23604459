package admin

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/tenant"
)

// limitsSubject is whose limits an operation is about.
type limitsSubject struct {
	AccountId *string `max:"64"`
	UserName  *string `max:"256"` // a user of the account; absent: the account itself
}

type setLimitsInput struct {
	limitsSubject
	Limits map[string]int64 `max:"20,64"` // by name; missing ones stay unchanged
}

// limitsOutput is an account or a user with its limits. Usage covers all nodes of a cluster.
type limitsOutput struct {
	AccountId string
	UserName  string           `json:",omitempty"`
	Limits    map[string]int64 `json:",always"`
	// Used has the use of each limited resource. For an account it always has the queues, topics and subscriptions.
	Used    map[string]float64 `json:",always"`
	Refused map[string]int64   `json:",always"` // requests, on the node that answers, since it was started
}

func (s *Service) setLimits(ctx context.Context, c *protocol.Call, in *setLimitsInput) (*limitsOutput, error) {
	subject, err := s.subject(c, &in.limitsSubject)
	if err != nil {
		return nil, err
	}
	limits := make(tenant.Limits, len(in.Limits))
	for _, name := range slices.Sorted(maps.Keys(in.Limits)) {
		k, err := limitNamed(name)
		if err != nil {
			return nil, err
		}
		limits[k] = in.Limits[name]
	}
	if len(limits) == 0 {
		return nil, protocol.ValidationError("Limits is empty: name at least one limit.")
	}
	if err := limits.Check(subject); err != nil {
		return nil, protocol.ValidationError("Limits: %v.", err)
	}
	if _, err := s.tenants.Set(ctx, subject, limits); err != nil {
		return nil, limitsFailure(err)
	}
	return s.describe(s.tenants.Usage(subject)), nil
}

type deleteLimitsInput struct {
	limitsSubject
	Names []string `max:"20,64"` // of limits; none: all
}

func (s *Service) deleteLimits(ctx context.Context, c *protocol.Call, in *deleteLimitsInput) (*limitsOutput, error) {
	subject, err := s.subject(c, &in.limitsSubject)
	if err != nil {
		return nil, err
	}
	var kinds []tenant.Kind
	for _, name := range in.Names {
		k, err := limitNamed(name)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, k)
	}
	if _, err := s.tenants.Remove(ctx, subject, kinds...); err != nil {
		return nil, limitsFailure(err)
	}
	return s.describe(s.tenants.Usage(subject)), nil
}

func (s *Service) getLimits(_ context.Context, c *protocol.Call, in *limitsSubject) (*limitsOutput, error) {
	subject, err := s.subject(c, in)
	if err != nil {
		return nil, err
	}
	return s.describe(s.tenants.Usage(subject)), nil
}

type listLimitsInput struct {
	NextToken string `max:"1024"`
}

type listLimitsOutput struct {
	Limits    []*limitsOutput `json:",always"`
	NextToken string          `json:",omitempty"`
}

// limitsPerPage is how many accounts and users a page has.
const limitsPerPage = 200

// listLimits lists the accounts and users that have limits.
func (s *Service) listLimits(_ context.Context, c *protocol.Call, in *listLimitsInput) (*listLimitsOutput, error) {
	if err := s.allow(c); err != nil {
		return nil, err
	}
	all := s.tenants.Usages()
	name := func(u tenant.Usage) string { return u.Account + "/" + u.User }
	p, err := service.Paginate(all, name, in.NextToken, "limits", limitsPerPage)
	if err != nil {
		return nil, protocol.ValidationError("NextToken: %s.", err)
	}
	out := &listLimitsOutput{NextToken: p.Next}
	for _, u := range p.Items {
		if u.User == "" || s.directory.Entity(u.User) != nil {
			out.Limits = append(out.Limits, s.describe(u))
		}
	}
	return out, nil
}

// subject returns whose limits a request is about, if the caller may call the operation and there is such an account
// or user.
func (s *Service) subject(c *protocol.Call, in *limitsSubject) (tenant.Subject, error) {
	if err := s.allow(c); err != nil {
		return tenant.Subject{}, err
	}
	var v protocol.Violations
	account := v.Required("accountId", in.AccountId)
	if err := v.Err(); err != nil {
		return tenant.Subject{}, err
	}
	if !identity.IsAccount(account) {
		return tenant.Subject{}, errNoNumber(account)
	}
	c.Notes.Set("target", account)
	if _, there := s.accounts.Root(account); !there {
		return tenant.Subject{}, errNoAccount(account)
	}
	subject := tenant.Subject{Account: account}
	if in.UserName == nil {
		return subject, nil
	}
	user := s.directory.Find(directory.User, account, *in.UserName)
	if user == nil {
		return subject, refusal("NoSuchUser", http.StatusNotFound,
			"The account %s has no user %.100q.", account, *in.UserName)
	}
	subject.User = user.ID
	return subject, nil
}

func errNoAccount(account string) error {
	return refusal("NoSuchAccount", http.StatusNotFound, "The account %s does not exist.", account)
}

func limitNamed(name string) (tenant.Kind, error) {
	k, ok := tenant.ParseKind(name)
	if !ok {
		return 0, protocol.ValidationError(
			"%.100q is no limit; there are %s.", name, strings.Join(tenant.Names(), ", "),
		)
	}
	return k, nil
}

// describe returns the view of an account or user for clients.
func (s *Service) describe(u tenant.Usage) *limitsOutput {
	out := &limitsOutput{
		AccountId: u.Account, Limits: make(map[string]int64), Used: make(map[string]float64),
		Refused: make(map[string]int64),
	}
	if user := s.directory.Entity(u.User); u.User != "" && user != nil {
		out.UserName = user.Name
	}
	for k, n := range u.Limits {
		out.Limits[k.String()] = n
	}
	for k, n := range u.Used {
		out.Used[k.String()] = n
	}
	for k, n := range u.Refused {
		out.Refused[k.String()] = n
	}
	if u.User == "" {
		out.Used[tenant.Queues.String()] = float64(len(s.queues(u.Account)))
		out.Used[tenant.Topics.String()] = float64(len(s.topics(u.Account)))
		out.Used[tenant.Subscriptions.String()] = float64(s.subscriptions(u.Account))
	}
	return out
}

func limitsFailure(err error) error {
	if errors.Is(err, tenant.ErrTooMany) {
		return refusal("TooManyLimits", http.StatusConflict,
			"At most %d accounts and users can have limits. Remove limits of others first.", tenant.MaxSubjects)
	}
	if _, known := errors.AsType[*protocol.Error](err); known {
		return err
	}
	return failure(err)
}

// forgetLimits removes the limits of an account that is about to be deleted, and of its users, which are already
// deleted.
func (s *Service) forgetLimits(ctx context.Context, account string) error {
	if s.tenants.Limits(tenant.Subject{Account: account}) == nil {
		return nil
	}
	if _, err := s.tenants.Remove(ctx, tenant.Subject{Account: account}); err != nil {
		return limitsFailure(err)
	}
	return nil
}
