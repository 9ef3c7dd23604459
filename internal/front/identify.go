package front

import (
	"cmp"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/aws/signature"
)

// identified is the caller of a request and its target. It is the result of identify.
type identified struct {
	service *protocol.Service // as far as known
	region  string
	caller  identity.Identity
	known   bool   // the caller is known, or known to be anonymous
	keyID   string // that the request names
}

// identify identifies the caller, the service and the region. A request to the first service may be unsigned, and so
// may one that follows a link in a message: then the caller is anonymous, and policies or the operation decide whether
// that suffices. With an error, identify returns what it found out before it.
func (f *Front) identify(a *arrival, parsed *protocol.Request, body []byte) (who identified, err error) {
	var named struct { // by the signature
		keyID string
		cred  identity.Credential
	}
	verified, err := f.verifier.Verify(signature.FromHTTP(a.r, body), a.began, func(keyID string) (_ string, ok bool) {
		named.keyID = keyID
		named.cred, ok = f.Keys.Lookup(keyID)
		return named.cred.Secret, ok
	})
	who.keyID, who.service = named.keyID, f.serviceOf(parsed, a.r.Host, verified.Service)
	if err == nil {
		err = f.checkScope(&verified, who.service)
	}
	switch {
	case err == nil:
		if who.caller, err = f.Keys.introduce(named.cred.Identity, verified.Token, a.began); err != nil {
			return who, err
		}
		// named.keyID is a piece of the Authorization header, and would keep all of it
		who.keyID = who.caller.AccessKeyID
		if who.region = f.Region; verified.Region != f.Region {
			who.region = strings.Clone(verified.Region)
		}
	case !errors.Is(err, signature.ErrUnsigned):
		return who, signatureError(err)
	case who.service.Lacks(parsed.Operation): // such as AssumeRoleWithWebIdentity, which is not signed on AWS either
		return who, protocol.UnsupportedOperation(parsed.Operation)
	case who.service != f.Services[0] && !who.service.TakesUnsigned(parsed.Operation):
		return who, protocol.MissingAuthenticationToken()
	}
	who.known = true
	if who.region == "" {
		who.region = f.region(a.r.Host)
	}
	f.Keys.noteUse(&who, a.began)
	return who, nil
}

// attrs describes the caller for the log, with its user or role by name. If its signature was refused, attrs names the
// access key. foreseen is the access key of a request that was refused before all of it was received, or "".
func (w *identified) attrs(foreseen string) []slog.Attr {
	keyID := cmp.Or(w.keyID, foreseen)
	switch {
	case w.caller.ARN != "":
		attrs := []slog.Attr{slog.String("caller", w.caller.ARN), slog.String("access_key_id", w.caller.AccessKeyID)}
		switch _, path, _ := strings.Cut(w.caller.Issuer, ":role/"); {
		case w.caller.UserName != "":
			attrs = append(attrs, slog.String("user", w.caller.UserName))
		case path != "":
			attrs = append(attrs, slog.String("role", path[strings.LastIndexByte(path, '/')+1:]))
		}
		return attrs
	case w.known:
		return []slog.Attr{slog.String("caller", "anonymous")}
	case keyID != "":
		return []slog.Attr{slog.String("access_key_id", protocol.Shorten(keyID, maxLoggedKey))}
	}
	return nil
}

// noteUse reports the use of a key, a user or a role to the directory.
func (k *Keys) noteUse(who *identified, at time.Time) {
	d, service, caller := k.Directory, who.service.Name, &who.caller
	switch caller.Kind {
	case policy.AssumedRole:
		d.Seen(caller.IssuerID, service, who.region, at)
	case policy.User:
		d.Seen(caller.UserID, service, who.region, at)
		if caller.Session == nil {
			d.Used(caller.AccessKeyID, service, who.region, at)
		}
	}
}

// Lookup returns the owner and the secret of an access key. The owner of a temporary key follows only from its token.
func (k *Keys) Lookup(keyID string) (identity.Credential, bool) {
	if cred, ok := k.Roots.Lookup(keyID); ok {
		return cred, true
	}
	if identity.IsTemporary(keyID) {
		secret, ok := k.Sessions.TemporarySecret(keyID)
		return identity.Credential{Identity: identity.Identity{AccessKeyID: strings.Clone(keyID)}, Secret: secret}, ok
	}
	return k.Directory.Lookup(keyID)
}

// introduce returns the identity of the signer. Temporary keys need their session token, and are valid until they
// expire, or until the user, role or console session behind them ends. Other keys come without a token.
func (k *Keys) introduce(id identity.Identity, token string, at time.Time) (identity.Identity, error) {
	if id.Kind != policy.Anonymous {
		if token != "" {
			return identity.Identity{}, protocol.UnrecognizedClient()
		}
		return id, nil
	}
	id, name, err := k.Sessions.Redeem(id.AccessKeyID, token)
	if err != nil {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	if !at.Before(id.Session.Expires) {
		return identity.Identity{}, protocol.ExpiredToken()
	}
	if _, ok := k.Roots.Root(id.Account); !ok || !k.hasRootKey(id.Session) {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	id, ok := k.Directory.Resume(id, name)
	if !ok || id.Session.Console != "" && !k.Browsers.Live(id.Session.Console, at) {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	return id, nil
}

// hasRootKey reports whether a session of a root still has the key that has asked for it. Others need none.
func (k *Keys) hasRootKey(s *identity.Session) bool {
	if s.RootKey == "" {
		return true
	}
	_, ok := k.Roots.Lookup(s.RootKey)
	return ok
}

// checkScope checks that a signature is for this service. It may be for any region: each is a separate namespace.
func (f *Front) checkScope(v *signature.Verified, of *protocol.Service) error {
	switch {
	case v.Version != 4:
		return nil // it has no scope
	case v.Service != of.Name:
		return signature.ServiceMismatch(of.Name)
	case v.Region != f.Region && !identity.IsRegion(v.Region):
		return signature.RegionMismatch(v.Region)
	}
	return nil
}

// signatureError returns the client's error for a signature that is not accepted.
func signatureError(err error) *protocol.Error {
	var e *signature.Error
	if !errors.As(err, &e) {
		return protocol.InternalError()
	}
	switch e.Kind {
	case signature.IncompleteSignature:
		return protocol.IncompleteSignature("%s", e.Message)
	case signature.UnknownKey:
		perr := protocol.UnrecognizedClient()
		perr.Message = e.Message
		return perr
	case signature.SignatureMismatch, signature.Expired, signature.ScopeMismatch:
		return protocol.InvalidSignature("%s", e.Message)
	case signature.RequestExpired:
		return protocol.RequestExpired("%s", e.Message)
	case signature.InvalidParameterCombination:
		return protocol.InvalidParameterCombination("%s", e.Message)
	case signature.MissingParameter:
		perr := protocol.MissingParameter("")
		perr.Message = e.Message
		return perr
	case signature.MalformedQueryString:
		return protocol.MalformedQueryString("%s", e.Message)
	case signature.InvalidParameter:
		return protocol.InvalidParameterValue("%s", e.Message)
	}
	return protocol.AccessDenied("%s", e.Message)
}
