package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/api/iam"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/api/sts"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

// simulation is a simulated request from the command line.
type simulation struct {
	caller, action, resource string
	identity                 []string // files
	resourcePolicy           string   // file
	context                  []string

	user, role, queue string // of a running server
	queuePolicy       string // its policy for the queue
}

// fetch fetches what is not in files from a server. It returns the policies of the caller if the server knows it.
func (s *simulation) fetch(ctx context.Context, server *clientFlags) (*storedPolicies, error) {
	switch {
	case s.caller == "" && s.user == "" && s.role == "":
		return nil, usage(errors.New("the caller is missing: want --caller, --user or --role"))
	case s.resource == "" && s.queue == "":
		return nil, usage(errors.New("the resource is missing: want --resource or --queue"))
	case s.user == "" && s.role == "" && s.queue == "":
		return nil, nil
	}
	c, err := server.client()
	if err != nil {
		return nil, err
	}
	if s.queue != "" {
		if err := s.fetchQueue(ctx, c); err != nil {
			return nil, err
		}
	}
	switch {
	case s.user != "":
		stored, err := c.entityPolicies(ctx, "User", s.user)
		if err == nil {
			s.caller = stored.arn
		}
		return stored, err
	case s.role != "":
		stored, err := c.entityPolicies(ctx, "Role", s.role)
		if err == nil {
			s.caller = sessionARN(stored.arn)
		}
		return stored, err
	}
	return nil, nil
}

// sessionARN returns the ARN of a session of a role.
func sessionARN(role string) string {
	parts := strings.SplitN(role, ":", 6)
	name := role[strings.LastIndexByte(role, '/')+1:]
	return "arn:" + parts[1] + ":sts::" + parts[4] + ":assumed-role/" + name + "/simulated"
}

func (s *simulation) fetchQueue(ctx context.Context, c *client) error {
	url, err := c.queueURL(ctx, s.queue)
	if err != nil {
		return err
	}
	attributes, err := c.queueAttributes(ctx, url)
	if err != nil {
		return err
	}
	s.resource, s.queuePolicy = attributes["QueueArn"], attributes["Policy"]
	return nil
}

func (s *simulation) request(now time.Time) (*policy.Request, error) {
	r := &policy.Request{Action: s.action, Resource: s.resource}
	r.Facts.Time = now
	var err error
	if r.Caller, err = parseCaller(s.caller); err != nil {
		return nil, err
	}
	switch arn := strings.SplitN(s.resource, ":", 6); {
	case s.resource == "*": // what belongs to the caller's account and has no name
		r.Owner = r.Caller.Account
	case len(arn) == 6 && arn[0] == "arn":
		r.Owner, r.Facts.Region = arn[4], arn[3]
	default:
		return nil, fmt.Errorf(
			"--resource %q: want an ARN such as arn:aws:sqs:us-east-1:000000000000:orders, or * for an action that is about none",
			s.resource,
		)
	}
	if r.Facts.Lookup, err = parseContext(s.context); err != nil {
		return nil, err
	}
	if r.Action, r.Rules, err = parseAction(s.action); err != nil {
		return nil, err
	}
	for _, file := range s.identity {
		p, err := readPolicy(file, func(text string) (*policy.Policy, error) {
			return policy.Parse(policy.ForIdentity, text)
		})
		if err != nil {
			return nil, err
		}
		r.Identity = append(r.Identity, p)
	}
	parse := func(text string) (*policy.Policy, error) {
		if r.Rules != nil { // then it is to be one that could be set
			return policy.ParseResource(text, r.Rules)
		}
		return policy.Parse(policy.ForResource, text)
	}
	switch {
	case s.resourcePolicy != "":
		r.ResourcePolicy, err = readPolicy(s.resourcePolicy, parse)
	case s.queuePolicy != "":
		if r.ResourcePolicy, err = parse(s.queuePolicy); err == nil {
			r.ResourcePolicy = r.ResourcePolicy.Named("the policy of " + s.queue)
		}
	}
	return r, err
}

// parseAction returns an action in the form of requests, and the rules of its service if they are known. A batch is
// checked as its single action.
func parseAction(text string) (string, *policy.Rules, error) {
	vendor, name, ok := strings.Cut(text, ":")
	if !ok || vendor == "" || name == "" || strings.ContainsAny(text, "*?") {
		return "", nil, fmt.Errorf("--action %q: want one action with its service, such as sqs:SendMessage", text)
	}
	known := services()
	i := slices.IndexFunc(known, func(r *policy.Rules) bool { return strings.EqualFold(vendor, r.Vendor) })
	if i < 0 {
		return text, nil, nil
	}
	for _, action := range known[i].Actions {
		if strings.EqualFold(action, text) || known[i] == sqs.Rules && strings.EqualFold(action+"Batch", text) {
			return action, known[i], nil
		}
	}
	return "", nil, fmt.Errorf("--action %q: the service %s has no action of that name", text, known[i].Vendor)
}

// services are the services whose actions are known.
var services = sync.OnceValue(func() []*policy.Rules {
	return []*policy.Rules{sqs.Rules, sns.Rules, admin.Rules, cloudtrail.Rules(), iam.Rules(), sts.Rules()}
})

// parseCaller parses the caller.
func parseCaller(text string) (policy.Caller, error) {
	c, ok := identity.ParseCaller(text)
	if !ok {
		return c, fmt.Errorf(
			"--caller %q: want the ARN of a root, user, assumed role or federated user, an account's 12 digits, or anonymous",
			text,
		)
	}
	return c, nil
}

// parseContext returns a function that knows the keys.
func parseContext(pairs []string) (func(name string) (policy.Value, bool), error) {
	values := make(map[string][]string)
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--context %q: want a key and a value, such as aws:SourceIp=10.1.2.3", pair)
		}
		name = strings.ToLower(name)
		values[name] = append(values[name], value)
	}
	return func(name string) (policy.Value, bool) {
		switch list := values[name]; len(list) {
		case 0:
			return policy.Value{}, false
		case 1:
			if name != "aws:tagkeys" {
				return policy.Text(list[0]), true
			}
			fallthrough
		default:
			return policy.List(list), true
		}
	}, nil
}

func readPolicy(file string, parse func(text string) (*policy.Policy, error)) (*policy.Policy, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p.Named(file), nil
}
