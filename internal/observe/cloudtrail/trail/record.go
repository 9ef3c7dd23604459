package trail

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
)

// Record is the event of a call in progress. Only one goroutine uses it at a time, apart from a change that the call no
// longer waits for.
type Record struct {
	trail  *Trail
	event  Event
	at     time.Time
	id     uuid.UUID
	caller string // account
	about  *protocol.About
	data   bool // it is of a call on data

	mu      sync.Mutex // held while the event is read or completed
	written class      // where a change has stored it; 0 if none has
	ended   bool
}

// Begin returns the record of an operation's call that began at a time.
func (t *Trail) Begin(c *protocol.Call, op *protocol.Operation, who *identity.Identity, began time.Time) *Record {
	c.About = new(protocol.About)
	r := &Record{trail: t, at: began, id: uuid.Must(uuid.NewV7()), caller: who.Account, about: c.About}
	r.event = Event{
		EventVersion: eventVersion, UserIdentity: identityOf(who), EventTime: began.UTC().Truncate(time.Second),
		EventSource: source(c.Service), EventName: op.Name, AWSRegion: c.Region, SourceIPAddress: c.SourceIP,
		UserAgent: text(c.UserAgent), RequestID: c.RequestID, ReadOnly: op.ReadOnly(), EventType: "AwsApiCall",
		ManagementEvent: true, EventCategory: "Management",
	}
	if c.TLS {
		r.event.TLSDetails = &TLSDetails{ClientProvidedHostHeader: text(c.Host)}
	}
	return r
}

// Parameters adds the input of the call, as returned by protocol.Operation.Parameters.
func (r *Record) Parameters(json []byte) { r.event.RequestParameters = part(json) }

// Changes returns a context with which a change of the control store includes the event in its commit. A change that
// comes after End, because the disk was blocked, omits it: End has stored the event then.
func (r *Record) Changes(ctx context.Context) context.Context {
	return control.With(ctx, r.accompany)
}

func (r *Record) accompany(tx *control.Tx) error {
	for _, e := range r.decided() {
		if err := r.trail.put(tx, e, r.trail.now()); err != nil {
			return err
		}
	}
	return nil
}

// decided returns the event for the commit of a change.
func (r *Record) decided() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil
	}
	r.written = changes
	return r.entries(changes)
}

// End adds the outcome of the call: its answer, as returned by protocol.Operation.Elements, or its error.
func (r *Record) End(answer []byte, refused *protocol.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	switch {
	case refused != nil:
		r.event.ErrorCode, r.event.ErrorMessage = refused.Code, text(refused.Message)
	case !r.event.ReadOnly || r.event.issues():
		r.event.ResponseElements = part(answer)
	}
	if r.data {
		r.give()
		return
	}
	where := r.written
	switch {
	case where == 0:
		where = others
	case refused == nil && string(answer) == "null":
		return // it is complete
	}
	r.trail.Append(r.entries(where))
}

// issues reports whether the call issues temporary keys. Its event includes the answer although the call changes
// nothing: the id of the key links later calls to the recipient.
func (e *Event) issues() bool {
	issuers := []string{"AssumeRole", "AssumeRoleWithWebIdentity", "GetFederationToken", "GetSessionToken"}
	return e.EventSource == "sts.amazonaws.com" && slices.Contains(issuers, e.EventName)
}

// entries returns the event as it is stored: once for the account of the caller, and once for that
// of the resource, if it is another.
func (r *Record) entries(c class) (out []Entry) {
	r.each(func(e *Event, id uuid.UUID) { out = append(out, Entry{key(c, r.at, id), e.encode(), r.caller}) })
	return out
}

// each calls f with the event of each account that has one.
func (r *Record) each(f func(e *Event, id uuid.UUID)) {
	e := r.event
	if by := r.about.By; by != nil {
		e.UserIdentity = Identity{
			Type: "WebIdentityUser", PrincipalID: text(by.Provider + ":" + by.ClientID + ":" + by.Subject),
			UserName:         text(by.Subject),
			IdentityProvider: text(by.Provider),
		}
	}
	if r.about.ARN != "" {
		e.Resources = []Resource{{AccountID: r.about.Owner, Type: resourceType(r.about.ARN), ARN: text(r.about.ARN)}}
	}
	owner := r.about.Owner
	accounts := []string{r.caller}
	switch {
	case r.caller == "":
		accounts[0] = owner
	case owner != "" && owner != r.caller:
		accounts = append(accounts, owner)
		e.SharedEventID = r.id.String()
	}
	for i, account := range accounts {
		if account == "" {
			continue // an anonymous call that is about nothing
		}
		id := r.id
		id[15] += byte(i)
		e.RecipientAccountID, e.EventID = account, id.String()
		f(&e, id)
	}
}

// source returns CloudTrail's name for a service.
func source(service string) string {
	return service + ".amazonaws.com"
}

// resourceType returns CloudFormation's name for the type of an ARN's resource, or "".
func resourceType(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	kind, _, _ := strings.Cut(parts[5], "/")
	switch parts[2] {
	case "sqs":
		return "AWS::SQS::Queue"
	case "sns":
		return "AWS::SNS::Topic"
	case "cloudwatch":
		kind, _, _ = strings.Cut(kind, ":")
		return map[string]string{
			"alarm": "AWS::CloudWatch::Alarm", "alarm-mute-rule": "AWS::CloudWatch::AlarmMuteRule",
			"dashboard": "AWS::CloudWatch::Dashboard", "insight-rule": "AWS::CloudWatch::InsightRule",
		}[kind]
	case "cloudtrail":
		return "AWS::CloudTrail::Trail"
	case "iam":
		return map[string]string{
			"user": "AWS::IAM::User", "group": "AWS::IAM::Group", "role": "AWS::IAM::Role",
			"policy": "AWS::IAM::ManagedPolicy", "mfa": "AWS::IAM::VirtualMFADevice",
			"instance-profile": "AWS::IAM::InstanceProfile", "oidc-provider": "AWS::IAM::OIDCProvider",
		}[kind]
	}
	return ""
}

// identityOf returns a caller in CloudTrail's form.
func identityOf(who *identity.Identity) Identity {
	id := Identity{
		PrincipalID: who.UserID, ARN: who.ARN, AccountID: who.Account, AccessKeyID: who.AccessKeyID,
		UserName: who.UserName,
	}
	switch {
	case who.ARN == "":
		return Identity{Type: "AWSAccount", PrincipalID: "", AccountID: "ANONYMOUS_PRINCIPAL"}
	case who.Kind == policy.Account:
		id.Type = "Root"
	case who.Kind == policy.AssumedRole:
		id.Type = "AssumedRole"
	case who.Kind == policy.FederatedUser:
		id.Type = "FederatedUser"
	default:
		id.Type = "IAMUser"
	}
	if s := who.Session; s != nil {
		mfa := strconv.FormatBool(!who.MFA.IsZero())
		id.SessionContext = &SessionContext{
			Attributes: SessionAttributes{CreationDate: s.Issued.UTC().Truncate(time.Second), MFAAuthenticated: mfa},
		}
		if who.Kind == policy.AssumedRole || who.Kind == policy.FederatedUser {
			id.SessionContext.SessionIssuer = issuerOf(s, who.Account)
		}
		if id.SessionContext.SourceIdentity = s.SourceIdentity; s.Provider != "" {
			id.SessionContext.WebID = &WebID{Provider: s.Provider, Attributes: map[string]string{}}
		}
	}
	return id
}

func issuerOf(s *identity.Session, account string) *SessionIssuer {
	issuer := &SessionIssuer{Type: "IAMUser", PrincipalID: s.IssuerID, ARN: s.Issuer, AccountID: account}
	switch {
	case strings.Contains(s.Issuer, ":role/"):
		issuer.Type = "Role"
	case strings.HasSuffix(s.Issuer, ":root"):
		issuer.Type = "Root"
	}
	issuer.UserName = s.Issuer[strings.LastIndexAny(s.Issuer, "/:")+1:]
	return issuer
}
