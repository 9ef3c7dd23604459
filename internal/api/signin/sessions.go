package signin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/session"
)

// view is a session in the form for the page.
type view struct {
	ID        string    `json:"id"`
	ARN       string    `json:"arn"`
	Account   string    `json:"account"`
	Alias     string    `json:"alias,omitempty"` // of the account
	User      string    `json:"user"`            // root, the user's name, or the role's and the session's
	Method    string    `json:"method"`
	MFA       bool      `json:"mfa"`
	Created   time.Time `json:"created"`
	Used      time.Time `json:"used"`
	Expires   time.Time `json:"expires"`
	SourceIP  string    `json:"sourceIP"`
	UserAgent string    `json:"userAgent"`
	Current   bool      `json:"current"` // the session of this request
}

func (c *core) view(n *session.Session, who identity.Identity, current string) view {
	v := view{
		ID: n.ID, ARN: who.ARN, Account: n.Account, Alias: c.o.Directory.Alias(n.Account), User: "root",
		Method: string(n.Method), MFA: !n.Grant.MFA.IsZero(),
		Created: n.Created, Used: n.Used, Expires: n.Until, SourceIP: n.SourceIP, UserAgent: n.UserAgent,
		Current: n.ID == current,
	}
	if !who.IsRoot() {
		v.User = who.ARN[strings.IndexByte(who.ARN, '/')+1:]
	}
	if who.UserName != "" {
		v.User = who.UserName
	}
	return v
}

// browsers serves browsers with a session.
type browsers struct{ *core }

// current returns the session of the requesting browser.
func (b *browsers) current(r *Request) (*session.Session, identity.Identity, error) {
	if token := b.guard.token(r); token != "" {
		if n, who, ok := b.o.Sessions.Find(token, r.At); ok {
			return n, who, nil
		}
	}
	return nil, identity.Identity{}, refuse(
		http.StatusUnauthorized, "SignedOut", "You are not signed in, or the session has ended.",
	)
}

func (b *browsers) show(_ context.Context, r *Request) (*Answer, error) {
	n, who, err := b.current(r)
	if err != nil {
		return nil, err
	}
	return &Answer{Status: http.StatusOK, Body: b.view(n, who, n.ID)}, nil
}

// signOut ends the session, if there is one, and deletes the cookie.
func (b *browsers) signOut(ctx context.Context, r *Request) (*Answer, error) {
	if n, _, err := b.current(r); err == nil {
		if err := b.o.Sessions.End(ctx, n.ID, r.At); err != nil {
			return nil, err
		}
	}
	ended := b.guard.cookie(r, "", -1)
	return &Answer{Status: http.StatusNoContent, Header: http.Header{"Set-Cookie": {ended.String()}}}, nil
}

// credentials issues keys for the page. That also counts as a use of the session.
func (b *browsers) credentials(ctx context.Context, r *Request) (*Answer, error) {
	n, _, err := b.current(r)
	if err != nil {
		return nil, err
	}
	keys, of, err := b.o.Sessions.Keys(ctx, n.ID, r.At)
	if err != nil {
		return nil, err
	}
	return &Answer{Status: http.StatusOK, Body: struct {
		AccessKeyId     string
		SecretAccessKey string `hidden:""`
		SessionToken    string `hidden:""`
		Expiration      time.Time
	}{keys.AccessKeyID, keys.Secret, keys.Token, of.Expires}}, nil
}

// visible returns the sessions that the caller may see and end: a root those of its account, all others their own.
func (b *browsers) visible(n *session.Session, who identity.Identity, now time.Time) []*session.Session {
	issuer := n.IssuerID
	if who.IsRoot() {
		issuer = ""
	}
	all := b.o.Sessions.List(n.Account, issuer, now)
	if issuer == "" || n.Name == "" {
		return all
	}
	own := all[:0:0]
	for _, other := range all {
		if other.Name == n.Name && other.Subject() == n.Subject() { // several people may have the same role
			own = append(own, other)
		}
	}
	return own
}

func (b *browsers) list(_ context.Context, r *Request) (*Answer, error) {
	n, who, err := b.current(r)
	if err != nil {
		return nil, err
	}
	out := struct {
		Sessions []view `json:"sessions"`
	}{[]view{}}
	for _, other := range b.visible(n, who, r.At) {
		if whose, ok := b.o.Sessions.Who(other); ok {
			out.Sessions = append(out.Sessions, b.view(other, whose, n.ID))
		}
	}
	return &Answer{Status: http.StatusOK, Body: out}, nil
}

func (b *browsers) end(ctx context.Context, r *Request) (*Answer, error) {
	n, who, err := b.current(r)
	if err != nil {
		return nil, err
	}
	id := strings.TrimPrefix(r.Name, "sessions/")
	for _, other := range b.visible(n, who, r.At) {
		if other.ID == id {
			return &Answer{Status: http.StatusNoContent}, b.o.Sessions.End(ctx, id, r.At)
		}
	}
	return nil, refuse(http.StatusNotFound, "NoSuchSession", "There is no such session, or it is not yours.")
}
