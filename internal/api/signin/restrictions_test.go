package signin_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/openid/openidtest"
	"github.com/sluicemq/sluice/internal/server"
)

// made are keys that a test examines.
type made struct {
	*apitest.Actor
	expires time.Time // zero: they do not
}

// Every operation that derives keys from keys keeps each restriction of the original: the new keys allow nothing that
// the old did not, and expire no later. A role's session has the role's permissions, so the role here may do less than
// everyone who assumes it.
func TestKeysFromKeysKeepEveryRestriction(t *testing.T) {
	t.Parallel()
	w := newRestricted(t)
	sources := w.sources(t)
	w.clock.Forward(time.Minute) // the policies refuse sessions that are older than this
	for _, from := range slices.Sorted(maps.Keys(sources)) {
		source := sources[from]
		before := w.allowed(t, source.Actor)
		for way, try := range ways {
			name := from + " " + way
			want, known := outcomes[from][way]
			if !known {
				t.Errorf("%s: add the outcome to the table of this test", name)
			}
			got, code := try(t, w, source.Actor)
			if code != want {
				t.Errorf("%s: %q, want %q", name, code, want)
			}
			if code != "" {
				continue
			}
			if way == "link" && !source.expires.IsZero() && got.expires.After(source.expires) {
				t.Errorf("%s: lasts until %v, and its source until %v", name, got.expires, source.expires)
			}
			for probe, may := range w.allowed(t, got.Actor) {
				if may && !before[probe] {
					t.Errorf("%s: may do %s now, and could not", name, probe)
				}
				if way == "link" && may != before[probe] {
					t.Errorf("%s: could do %s, and cannot now", name, probe)
				}
			}
		}
	}
}

// outcomes are the codes with which each way refuses the keys of each kind, or "" if it makes keys.
var outcomes = map[string]map[string]string{
	"user": {"link": "", "signed request": "", "GetSessionToken": "", "GetFederationToken": "",
		"AssumeRole": ""},
	"user with boundary": {"link": "", "signed request": "", "GetSessionToken": "",
		"GetFederationToken": "AccessDenied", "AssumeRole": "AccessDenied"},
	"user's session": {"link": "", "signed request": "BadKeys", "GetSessionToken": "AccessDenied",
		"GetFederationToken": "AccessDenied", "AssumeRole": ""},
	"user's federation": {"link": "", "signed request": "BadKeys", "GetSessionToken": "AccessDenied",
		"GetFederationToken": "AccessDenied", "AssumeRole": "AccessDenied"},
	"root": {"link": "", "signed request": "", "GetSessionToken": "", "GetFederationToken": "",
		"AssumeRole": "AccessDenied"},
	"root's session": {"link": "", "signed request": "BadKeys", "GetSessionToken": "AccessDenied",
		"GetFederationToken": "AccessDenied", "AssumeRole": "AccessDenied"},
	"root's federation": {"link": "", "signed request": "BadKeys", "GetSessionToken": "AccessDenied",
		"GetFederationToken": "AccessDenied", "AssumeRole": "AccessDenied"},
	"role": {"link": "", "signed request": "BadKeys", "GetSessionToken": "AccessDenied",
		"GetFederationToken": "AccessDenied", "AssumeRole": ""},
	"role with policy": {"link": "", "signed request": "BadKeys", "GetSessionToken": "AccessDenied",
		"GetFederationToken": "AccessDenied", "AssumeRole": "AccessDenied"},
	"role by role": {"link": "", "signed request": "BadKeys", "GetSessionToken": "AccessDenied",
		"GetFederationToken": "AccessDenied", "AssumeRole": ""},
	"console by link": {"link": "AccessDeniedException", "signed request": "BadKeys",
		"GetSessionToken": "AccessDenied", "GetFederationToken": "AccessDenied", "AssumeRole": ""},
	"role by token": {"link": "", "signed request": "BadKeys", "GetSessionToken": "AccessDenied",
		"GetFederationToken": "AccessDenied", "AssumeRole": "AccessDenied"},
	"console by provider": {"link": "AccessDeniedException", "signed request": "BadKeys",
		"GetSessionToken": "AccessDenied", "GetFederationToken": "AccessDenied", "AssumeRole": ""},
	"console by password": {"link": "AccessDeniedException", "signed request": "BadKeys",
		"GetSessionToken": "AccessDenied", "GetFederationToken": "AccessDenied", "AssumeRole": ""},
	"denied links": {"link": "AccessDeniedException", "signed request": "", "GetSessionToken": "",
		"GetFederationToken": "", "AssumeRole": ""},
}

// restricted is a server with users and roles that are denied some actions.
type restricted struct {
	*federation                      // for sign-in
	programs    *openidtest.Provider // for programs' tokens
	queue       string               // URL
	role        string               // the ARN of the role that may send and assume itself
	revoke      time.Time
}

func newRestricted(t *testing.T) *restricted {
	t.Helper()
	w := &restricted{federation: newFederation(t, func(c *server.Config) { c.EgressAllow = []string{"127.0.0.1"} })}
	w.programs, w.revoke = openidtest.NewTLS(t, w.clock.Now), w.clock.Now().Add(30*time.Second)
	q, err := w.root.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	w.queue = *apitest.Must(t, q, err).QueueUrl
	w.role = w.newRole(t, "ops", inAccount, w.policy(`"sqs:SendMessage","sts:AssumeRole","sts:TagSession"`))
	return w
}

// policy allows actions, except for callers with the tag team=red and for sessions from before the revocation.
func (w *restricted) policy(actions string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":[%s],"Resource":"*"},
		{"Effect":"Deny","Action":"sqs:GetQueueUrl","Resource":"*","Condition":{"StringEquals":{"aws:PrincipalTag/team":"red"}}},
		{"Effect":"Deny","Action":"sqs:ListDeadLetterSourceQueues","Resource":"*","Condition":{"DateLessThan":{"aws:TokenIssueTime":%q}}}]}`,
		actions, w.revoke.UTC().Format(time.RFC3339))
}

// inAccount trusts the users and roles of the account.
const inAccount = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + apitest.Account +
	`"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`

func (w *restricted) newRole(t *testing.T, name, trust, document string) (arn string) {
	t.Helper()
	out, err := w.root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: &name, AssumeRolePolicyDocument: &trust,
	})
	arn = *apitest.Must(t, out, err).Role.Arn
	_, err = w.root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: &name, PolicyName: aws.String("own"), PolicyDocument: &document,
	})
	apitest.Must(t, 0, err)
	return arn
}

// sources makes keys of each kind.
func (w *restricted) sources(t *testing.T) map[string]made {
	t.Helper()
	all := w.policy(`"sqs:*","iam:*","sts:*"`)
	user, _ := w.root.User(t, "ann", all)
	bound, _ := w.root.User(t, "ben", all)
	_, err := w.root.IAM.PutUserPermissionsBoundary(t.Context(), &iam.PutUserPermissionsBoundaryInput{
		UserName:            aws.String("ben"),
		PermissionsBoundary: aws.String("arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess")})
	apitest.Must(t, 0, err)
	deny := all[:len(all)-2] + `,{"Effect":"Deny","Action":"sluice:CreateSignInLink","Resource":"*"}]}`
	denied, _ := w.root.User(t, "dan", deny)
	w.newUser(t, "pat", "Correct-horse-1", false)
	_, err = w.root.IAM.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{
		UserName: aws.String("pat"), PolicyName: aws.String("own"), PolicyDocument: &all,
	})
	apitest.Must(t, 0, err)
	byPassword := w.browser(t)
	byPassword.do(http.StatusOK, "POST", "session", typed("pat", "Correct-horse-1"))

	role := w.newRole(t, "wide", inAccount, all)
	assumed := w.assume(t, user, role, "")
	narrow := apitest.Allow("sqs:SendMessage", "*")
	return map[string]made{
		"user": {Actor: user}, "user with boundary": {Actor: bound}, "root": {Actor: w.root},
		"denied links":   {Actor: denied},
		"user's session": w.session(t, user), "root's session": w.session(t, w.root),
		"user's federation": w.federated(t, user), "root's federation": w.federated(t, w.root),
		"role": assumed, "role with policy": w.assume(t, user, role, narrow),
		"role by role":        w.assume(t, assumed.Actor, w.role, ""),
		"role by token":       w.byToken(t, all, narrow),
		"console by provider": {Actor: w.byProvider(t, all), expires: w.clock.Now().Add(15 * time.Minute)},
		"console by link":     {Actor: w.signedIn(t, user).keys(w.rig), expires: w.clock.Now().Add(15 * time.Minute)},
		"console by password": {Actor: byPassword.keys(w.rig), expires: w.clock.Now().Add(15 * time.Minute)},
	}
}

func (w *restricted) of(c *ststypes.Credentials) made {
	return made{w.root.Temporary(c), *c.Expiration}
}

func (w *restricted) session(t *testing.T, who *apitest.Actor) made {
	t.Helper()
	out, err := who.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{DurationSeconds: aws.Int32(900)})
	return w.of(apitest.Must(t, out, err).Credentials)
}

func (w *restricted) federated(t *testing.T, who *apitest.Actor) made {
	t.Helper()
	out, err := who.STS.GetFederationToken(t.Context(), &sts.GetFederationTokenInput{
		Name: aws.String("fed"), DurationSeconds: aws.Int32(900),
		Tags:   []ststypes.Tag{{Key: aws.String("team"), Value: aws.String("red")}},
		Policy: aws.String(w.policy(`"sqs:SendMessage","sqs:GetQueueUrl","sqs:ListDeadLetterSourceQueues","iam:*"`)),
	})
	return w.of(apitest.Must(t, out, err).Credentials)
}

func (w *restricted) assume(t *testing.T, who *apitest.Actor, role, document string) made {
	t.Helper()
	in := &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("s1"), DurationSeconds: aws.Int32(900)}
	if in.Tags = []ststypes.Tag{{Key: aws.String("team"), Value: aws.String("red")}}; document != "" {
		in.Policy = &document
	}
	out, err := who.STS.AssumeRole(t.Context(), in)
	return w.of(apitest.Must(t, out, err).Credentials)
}

// byToken creates a role, and exchanges a provider's token for its keys, with a session policy.
func (w *restricted) byToken(t *testing.T, document, session string) made {
	t.Helper()
	provider, err := w.root.IAM.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &w.programs.URL, ClientIDList: []string{openidtest.Client},
		ThumbprintList: []string{w.programs.Thumbprint},
	})
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":%q},"Action":"sts:AssumeRoleWithWebIdentity"}]}`,
		*apitest.Must(t, provider, err).OpenIDConnectProviderArn)
	role := w.newRole(t, "program", trust, document)
	unsigned := apitest.NewActor(w.Endpoint(), "AKIAIOSFODNN7EXAMPLE", "x", "", w.clock.Now)
	out, err := unsigned.STS.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &role, RoleSessionName: aws.String("s1"), WebIdentityToken: aws.String(w.programs.Issue(nil)),
		Policy: &session,
	})
	return w.of(apitest.Must(t, out, err).Credentials)
}

// byProvider creates the role of the users whom a provider admits, and returns the keys of one of them.
func (w *restricted) byProvider(t *testing.T, document string) *apitest.Actor {
	t.Helper()
	w.newRole(t, "admin", w.trust(`"StringEquals":{"`+w.key()+`:aud":"`+openidtest.Client+`"}`), document)
	v := newVisitor(t)
	if code := v.signIn(w.federation); code != "" {
		t.Fatal(code)
	}
	return v.page(w.federation).keys(w.rig)
}

// allowed returns the actions that a caller may take, of actions that some callers are denied.
func (w *restricted) allowed(t *testing.T, who *apitest.Actor) map[string]bool {
	t.Helper()
	may := make(map[string]bool)
	for probe, try := range map[string]func() error{
		"send":     func() error { return who.Send(t, w.queue) },
		"call IAM": func() error { _, err := who.IAM.ListUsers(t.Context(), nil); return err },
		"make access keys": func() error {
			_, err := who.IAM.ListAccessKeys(t.Context(), &iam.ListAccessKeysInput{UserName: aws.String("ann")})
			return err
		},
		"what its policy lacks": func() error {
			_, err := who.SQS.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: &w.queue})
			return err
		},
		"what its tag denies": func() error {
			_, err := who.SQS.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
			return err
		},
		"what old sessions may not": func() error {
			_, err := who.SQS.ListDeadLetterSourceQueues(t.Context(), &sqs.ListDeadLetterSourceQueuesInput{
				QueueUrl: &w.queue,
			})
			return err
		},
	} {
		switch code := apitest.Code(try()); code {
		case "":
			may[probe] = true
		case "AccessDenied", "AccessDeniedException", "InvalidClientTokenId", "QueueDoesNotExist",
			"AWS.SimpleQueueService.NonExistentQueue":
			may[probe] = false
		default:
			t.Errorf("%s: %s", probe, code)
		}
	}
	return may
}

// ways make keys from keys, or return the code of the refusal.
var ways = map[string]func(*testing.T, *restricted, *apitest.Actor) (made, string){
	"link": func(t *testing.T, w *restricted, who *apitest.Actor) (made, string) {
		if status, out := who.Sluice(t, "CreateSignInLink", object{}); status != http.StatusOK {
			_, code, _ := strings.Cut(fmt.Sprint(out["__type"]), "#")
			return made{}, code
		}
		return w.console(t, link(t, who)), ""
	},
	"signed request": func(t *testing.T, w *restricted, who *apitest.Actor) (made, string) {
		cred := identity.Credential{
			Identity: identity.Identity{AccessKeyID: who.Keys.AccessKeyID}, Secret: who.Keys.SecretAccessKey,
		}
		request := signed(t, cred, w.Endpoint(), w.clock.Now(), nil)
		res, out := w.browser(t).ask("POST", "session", request, nil)
		if res.StatusCode != http.StatusOK {
			return made{}, fmt.Sprint(out["code"])
		}
		w.clock.Forward(time.Second) // a key can sign in once a second
		return w.console(t, signed(t, cred, w.Endpoint(), w.clock.Now(), nil)), ""
	},
	"GetSessionToken": func(t *testing.T, w *restricted, who *apitest.Actor) (made, string) {
		out, err := who.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
		if err != nil {
			return made{}, apitest.Code(err)
		}
		return w.of(out.Credentials), ""
	},
	"GetFederationToken": func(t *testing.T, w *restricted, who *apitest.Actor) (made, string) {
		out, err := who.STS.GetFederationToken(t.Context(), &sts.GetFederationTokenInput{
			Name: aws.String("fed"), Policy: aws.String(apitest.Allow("*", "*")),
		})
		if err != nil {
			return made{}, apitest.Code(err)
		}
		return w.of(out.Credentials), ""
	},
	"AssumeRole": func(t *testing.T, w *restricted, who *apitest.Actor) (made, string) {
		out, err := who.STS.AssumeRole(t.Context(), &sts.AssumeRoleInput{
			RoleArn: &w.role, RoleSessionName: aws.String("s2"),
		})
		if err != nil {
			return made{}, apitest.Code(err)
		}
		return w.of(out.Credentials), ""
	},
}

// console signs in, and returns the keys that the page gets.
func (w *restricted) console(t *testing.T, body string) made {
	t.Helper()
	b := w.browser(t)
	b.do(http.StatusOK, "POST", "session", body)
	k := b.do(http.StatusOK, "POST", "credentials", "")
	expires, err := time.Parse(time.RFC3339, fmt.Sprint(k["Expiration"]))
	apitest.Must(t, k, err)
	text := func(name string) string { return fmt.Sprint(k[name]) }
	return made{apitest.NewActor(w.Endpoint(), text("AccessKeyId"), text("SecretAccessKey"), text("SessionToken"),
		w.clock.Now), expires}
}
