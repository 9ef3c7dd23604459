package trail

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// SignIn describes an attempt to sign in to the console.
type SignIn struct {
	Account   string            // that the event is for
	Who       identity.Identity // the zero Identity if unknown
	Method    string            // link, keys, password or oidc
	URL       string            // of the console
	Region    string
	Host      string
	SourceIP  string
	UserAgent string
	RequestID string
	TLS       bool
	MFA       bool       // a second factor was shown
	Federated *Federated // what an identity provider has said; nil: nothing
	At        time.Time
}

// Federated is a person whom an identity provider vouches for.
type Federated struct {
	Provider string // its ARN
	ClientID string // who this server is to it
	Subject  string // who the person is to it
	Name     string // of the person; empty if it is not known
}

// hiddenUser replaces a name that belongs to no user, as in CloudTrail: people type passwords there.
const hiddenUser = "HIDDEN_DUE_TO_SECURITY_REASONS"

// BeginSignIn returns the record of a sign-in. Nothing of it is kept before Record.Changes or Record.End.
func (t *Trail) BeginSignIn(s *SignIn) *Record {
	r := &Record{trail: t, at: s.At, id: uuid.Must(uuid.NewV7()), caller: s.Account, about: new(protocol.About)}
	who := identityOf(&s.Who)
	if s.Who.ARN == "" {
		who = Identity{Type: "IAMUser", AccountID: s.Account, UserName: hiddenUser}
	}
	if f := s.Federated; f != nil {
		if s.Who.ARN == "" {
			who = Identity{
				Type: "WebIdentityUser", PrincipalID: text(f.Provider + ":" + f.ClientID + ":" + f.Subject),
				UserName:         text(f.Name),
				IdentityProvider: text(f.Provider),
			}
		} else if who.SessionContext != nil {
			attributes := map[string]string{"aud": text(f.ClientID), "sub": text(f.Subject)}
			who.SessionContext.WebID = &WebID{Provider: text(f.Provider), Attributes: attributes}
		}
	}
	mfa := "No"
	if s.MFA {
		mfa = "Yes"
	}
	more, err := json.Marshal(map[string]string{
		"LoginTo": text(s.URL), "MobileVersion": "No", "MFAUsed": mfa, "SignInMethod": s.Method,
	})
	if err != nil {
		panic(err) // texts only
	}
	r.event = Event{
		EventVersion: eventVersion, UserIdentity: who, EventTime: s.At.UTC().Truncate(time.Second),
		EventSource: "signin.amazonaws.com", EventName: "ConsoleLogin", AWSRegion: s.Region,
		SourceIPAddress: s.SourceIP,
		UserAgent:       text(s.UserAgent), RequestID: s.RequestID, EventType: "AwsConsoleSignIn",
		ManagementEvent: true,
		EventCategory:   "Management", AdditionalEventData: more, ResponseElements: signedIn("Success"),
	}
	if s.TLS {
		r.event.TLSDetails = &TLSDetails{ClientProvidedHostHeader: text(s.Host)}
	}
	return r
}

// Failed adds that the attempt has failed, and why.
func (r *Record) Failed(why string) {
	r.event.ErrorMessage, r.event.ResponseElements = text(why), signedIn("Failure")
	entries := r.entries(others)
	for i := range entries {
		entries[i].Caller = "" // anyone can try
	}
	r.trail.Append(entries)
}

func signedIn(result string) json.RawMessage {
	return json.RawMessage(`{"ConsoleLogin":"` + result + `"}`)
}
