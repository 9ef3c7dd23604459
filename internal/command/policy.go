package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/iam"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/api/sts"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

var errNotAllowed = newVerdict("not allowed")

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{Use: "policy", Short: "Work on access policies"}
	cmd.AddCommand(newSimulate())
	return cmd
}

func newSimulate() *cobra.Command {
	server := new(clientFlags)
	var s simulation
	var out output
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Say whether policies allow a request, and why",
		Long: `Say whether policies allow a request, and why.

With --user or --role, and with --queue, the policies are those that a running
server has, and the caller and the resource follow from them; what is given in files
is added. Otherwise no server is needed or asked.

The caller is an ARN, an account's 12 digits for its root, or "anonymous". What
conditions ask about the request is given with --context; a key that is given
several times has a list of values. A key that is not given is one that the
request does not have, except that the time is now, aws:SecureTransport is
false, and the keys about the caller follow from --caller.

The exit status is 0 if the request is allowed, 1 if it is not, and 2 if that
could not be found out, for instance because a policy has a mistake.`,
		Example: `  sluice policy simulate --caller 111122223333 --action sqs:SendMessage \
    --resource arn:aws:sqs:us-east-1:000000000000:orders \
    --resource-policy orders.json --context aws:SourceIp=10.1.2.3
  sluice policy simulate --user worker --queue jobs --action sqs:ReceiveMessage`,
		Args: noArguments,
		RunE: asked(func(cmd *cobra.Command, _ []string) error {
			stored, err := s.fetch(cmd.Context(), server)
			if err != nil {
				return err
			}
			request, err := s.request(time.Now())
			if err != nil {
				return err
			}
			if stored != nil {
				request.Identity, request.Boundary = append(request.Identity, stored.identity...), stored.boundary
			}
			x := policy.Explain(request)
			if err := out.print(cmd, decision{reportOf(&x, request), &x}); err != nil {
				return err
			}
			if !x.Allowed() {
				return errNotAllowed
			}
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&s.caller, "caller", "", "who asks: an ARN, an account, or anonymous")
	f.StringVar(&s.action, "action", "", "what for, such as sqs:SendMessage")
	f.StringVar(&s.resource, "resource", "", "ARN of what it is about, or * for an action that is about nothing in particular, such as sluice:DrainNode")
	f.StringArrayVar(&s.identity, "policy", nil, "file with a policy of the caller's own; repeat it for several")
	f.StringVar(&s.resourcePolicy, "resource-policy", "", "file with the policy of the resource")
	f.StringArrayVar(&s.context, "context", nil, "what conditions can ask for, as aws:SourceIp=10.1.2.3; repeat it for several")
	f.StringVar(&s.user, "user", "", "user of a running server who asks, with the policies that the user has there")
	f.StringVar(&s.role, "role", "", "role of a running server that asks, with the policies that it has there")
	f.StringVar(&s.queue, "queue", "", "queue of a running server that it is about, with the policy that it has there: its name, URL or ARN")
	filePath(f, "policy", "resource-policy")
	notWith(f, "user", "caller", "role")
	notWith(f, "role", "caller")
	notWith(f, "queue", "resource", "resource-policy")
	must(cmd.MarkFlagRequired("action"))
	must(cmd.RegisterFlagCompletionFunc("user", completeUsers(server)))
	must(cmd.RegisterFlagCompletionFunc("queue", completeQueueFlag(server)))
	must(cmd.RegisterFlagCompletionFunc("action", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return slices.Concat(sqs.Rules.Actions, admin.Rules.Actions), cobra.ShellCompDirectiveNoFileComp
	}))
	server.add(cmd, "IAM")
	onlyWith(cmd.PersistentFlags(), []string{"user", "role", "queue"}, "endpoint", "ca", "region", "profile")
	out.add(cmd)
	return cmd
}

// warningsOf returns what in the policies of a request never has an effect.
func warningsOf(r *policy.Request) []string {
	var all []string
	for _, p := range append(slices.Clone(r.Identity), r.ResourcePolicy) {
		if p == nil {
			continue
		}
		for _, w := range p.Warnings(r.Resource, services()...) {
			all = append(all, p.Name()+": "+w.String())
		}
	}
	return all
}

// simulation is a request as it is given on the command line.
type simulation struct {
	caller, action, resource string
	identity                 []string // files
	resourcePolicy           string   // file
	context                  []string

	user, role, queue string // of a running server
	queuePolicy       string // what it has for the queue
}

// fetch asks a server for what is not in files, and returns the policies of the
// caller if it is one of the server's.
func (s *simulation) fetch(ctx context.Context, server *clientFlags) (*storedPolicies, error) {
	switch {
	case s.caller == "" && s.user == "" && s.role == "":
		return nil, usage(errors.New("who asks is missing: want --caller, --user or --role"))
	case s.resource == "" && s.queue == "":
		return nil, usage(errors.New("what it is about is missing: want --resource or --queue"))
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
		return nil, fmt.Errorf("--resource %q: want an ARN such as arn:aws:sqs:us-east-1:000000000000:orders, or * for an action that is about none", s.resource)
	}
	if r.Facts.Lookup, err = parseContext(s.context); err != nil {
		return nil, err
	}
	if r.Action, r.Rules, err = parseAction(s.action); err != nil {
		return nil, err
	}
	for _, file := range s.identity {
		p, err := readPolicy(file, func(text string) (*policy.Policy, error) { return policy.Parse(policy.ForIdentity, text) })
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

// parseAction returns an action as requests write it, and the rules of its
// service if they are known. A batch is asked for as its single action.
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

// services are those whose actions are known.
var services = sync.OnceValue(func() []*policy.Rules {
	return []*policy.Rules{sqs.Rules, admin.Rules, iam.Rules(), sts.Rules()}
})

// parseCaller returns the caller that an ARN names. What the ARN does not say,
// such as its unique id, is not known.
func parseCaller(text string) (policy.Caller, error) {
	if strings.EqualFold(text, "anonymous") {
		return policy.Caller{}, nil
	}
	bad := fmt.Errorf("--caller %q: want the ARN of a root, user, assumed role or federated user, an account's 12 digits, or anonymous", text)
	if isAccount(text) {
		text = "arn:aws:iam::" + text + ":root"
	}
	arn := strings.SplitN(text, ":", 6)
	if len(arn) != 6 || arn[0] != "arn" || !isAccount(arn[4]) {
		return policy.Caller{}, bad
	}
	c := policy.Caller{Account: arn[4], ARN: text}
	kind, name, _ := strings.Cut(arn[5], "/")
	switch of := arn[2] + " " + kind; {
	case of == "iam root" && name == "":
		c.Kind, c.UserID = policy.Account, c.Account
	case of == "iam user" && name != "":
		c.Kind, c.UserName = policy.User, name[strings.LastIndexByte(name, '/')+1:]
	case of == "sts assumed-role" && strings.Count(name, "/") == 1:
		role, _, _ := strings.Cut(name, "/")
		c.Kind, c.Issuer = policy.AssumedRole, "arn:"+arn[1]+":iam::"+c.Account+":role/"+role
	case of == "sts federated-user" && name != "":
		c.Kind, c.UserID = policy.FederatedUser, c.Account+":"+name
	default:
		return policy.Caller{}, bad
	}
	return c, nil
}

func isAccount(s string) bool {
	return len(s) == 12 && strings.Trim(s, "0123456789") == ""
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

// decision is the answer to a simulation.
type decision struct {
	*simulated
	explanation *policy.Explanation
}

func (d decision) text(w io.Writer) error {
	var b strings.Builder
	for _, w := range d.Warnings {
		fmt.Fprintln(&b, "warning:", w)
	}
	b.WriteString(d.explanation.String())
	if len(d.Missing) > 0 {
		fmt.Fprintf(&b, "The request does not have: %s\n", strings.Join(d.Missing, ", "))
	}
	if !d.explanation.Allowed() {
		fmt.Fprintln(&b, d.simulated.Message)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// simulated is an answer for machines.
type simulated struct {
	Decision   string             `json:"decision"` // allowed, implicitDeny or explicitDeny
	By         string             `json:"by"`       // which policies decided, or lack an Allow
	Message    string             `json:"message,omitempty"`
	Rule       string             `json:"rule,omitempty"` // that decided beside the policies
	Statements []simulatedVerdict `json:"statements"`
	Missing    []string           `json:"missingContextKeys"`
	Warnings   []string           `json:"warnings"` // of what in the policies has no effect
}

// simulatedVerdict is how one statement fared.
type simulatedVerdict struct {
	Source  string `json:"source"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Sid     string `json:"sid,omitempty"`
	Effect  string `json:"effect"`
	Applies bool   `json:"applies"`
	Decided bool   `json:"decided"`
	Element string `json:"element,omitempty"` // that did not match
	Reason  string `json:"reason"`
}

func reportOf(x *policy.Explanation, r *policy.Request) *simulated {
	s := &simulated{
		Decision: x.Result.String(), By: x.By.String(), Rule: x.Rule,
		Statements: []simulatedVerdict{}, Missing: append([]string{}, x.Missing...),
		Warnings: append([]string{}, warningsOf(r)...),
	}
	if !x.Allowed() {
		s.Message = x.Message(r)
	}
	for _, t := range x.Traces {
		s.Statements = append(s.Statements, simulatedVerdict{
			Source: t.Source.String(), File: t.Policy.Name(), Line: t.Statement.Start.Line, Sid: t.Statement.Sid,
			Effect: t.Statement.Effect.String(), Applies: t.Matched,
			Decided: t.Policy == x.Policy && t.Statement.Index == x.Statement, Element: t.Element, Reason: t.Reason(),
		})
	}
	return s
}
