package front

import (
	"errors"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/aws/signature"
)

// identify finds out who the caller is, and which service and region are meant. A request to the first service may have
// no signature, nor need those that follow a link in a message: then the caller is anonymous, and policies or the operation
// decide whether that will do.
func (x *request) identify(body []byte) error {
	f := x.front
	var cred identity.Credential // of the key that the request names
	verified, err := f.verifier.Verify(signature.FromHTTP(x.r, body), x.began, func(keyID string) (_ string, ok bool) {
		cred, ok = x.credential(keyID)
		return cred.Secret, ok
	})
	x.service = f.serviceOf(x.parsed, x.r.Host, verified.Service)
	x.call.Service = x.service.Name
	if err == nil {
		err = x.checkScope(&verified)
	}
	var refused *signature.Error
	switch {
	case err == nil:
		caller, err := x.introduce(cred.Identity, verified.Token)
		if err != nil {
			return err
		}
		x.caller = caller
		x.call.Identity = caller
		x.call.Region = verified.Region
	case !errors.As(err, &refused) || refused.Kind != signature.Unsigned:
		return signatureError(err)
	case x.service.Lacks(x.parsed.Operation): // such as AssumeRoleWithWebIdentity, which is not signed on AWS either
		return protocol.UnsupportedOperation(x.parsed.Operation)
	case x.service != f.Services[0] && !x.service.TakesUnsigned(x.parsed.Operation):
		return protocol.MissingAuthenticationToken()
	}
	x.identified = true
	if x.call.Region == "" {
		x.call.Region = hostRegion(x.r.Host)
	}
	if x.call.Region == "" {
		x.call.Region = f.Region
	}
	x.noteUse()
	return nil
}

// noteUse has the directory know when a key, a user or a role was used last.
func (x *request) noteUse() {
	d := x.front.Keys.Directory
	switch x.caller.Kind {
	case policy.AssumedRole:
		d.Seen(x.caller.IssuerID, x.call.Service, x.call.Region, x.began)
	case policy.User:
		d.Seen(x.caller.UserID, x.call.Service, x.call.Region, x.began)
		if x.caller.Session == nil {
			d.Used(x.caller.AccessKeyID, x.call.Service, x.call.Region, x.began)
		}
	}
}

// lookup returns the secret of the access key that the request names.
func (x *request) lookup(keyID string) (secret string, ok bool) {
	cred, ok := x.credential(keyID)
	return cred.Secret, ok
}

// credential returns whose the access key is that the request names.
func (x *request) credential(keyID string) (identity.Credential, bool) {
	x.keyID = keyID
	return x.front.Keys.Lookup(keyID)
}

// Lookup returns whose an access key is and its secret. Of temporary keys only the token says whose they are.
func (k *Keys) Lookup(keyID string) (identity.Credential, bool) {
	if cred, ok := k.Roots.Lookup(keyID); ok {
		return cred, true
	}
	if identity.IsTemporary(keyID) {
		secret, ok := k.Sessions.TemporarySecret(keyID)
		return identity.Credential{Identity: identity.Identity{AccessKeyID: keyID}, Secret: secret}, ok
	}
	return k.Directory.Lookup(keyID)
}

// introduce returns who has signed. Temporary keys come with the token that was given out with them, and are good until
// their time is over, or the user, role or session of the console that they act for ends; other keys come without a token.
func (x *request) introduce(id identity.Identity, token string) (identity.Identity, error) {
	if id.Kind != policy.Anonymous {
		if token != "" {
			return identity.Identity{}, protocol.UnrecognizedClient()
		}
		return id, nil
	}
	keys := &x.front.Keys
	id, name, err := keys.Sessions.Redeem(id.AccessKeyID, token)
	if err != nil {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	if !x.began.Before(id.Session.Expires) {
		return identity.Identity{}, protocol.ExpiredToken()
	}
	if _, ok := keys.Roots.Root(id.Account); !ok {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	id, ok := keys.Directory.Resume(id, name)
	if !ok || id.Session.Console != "" && !keys.Browsers.Live(id.Session.Console, x.began) {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	return id, nil
}

// checkScope makes sure that a signature is meant for this service. It may be for any region: each is a namespace of its
// own.
func (x *request) checkScope(v *signature.Verified) error {
	switch {
	case v.Version != 4:
		return nil // it has no scope
	case v.Service != x.service.Name:
		return signature.ServiceMismatch(x.service.Name)
	case v.Region != x.front.Region && !identity.IsRegion(v.Region):
		return signature.RegionMismatch(v.Region)
	}
	return nil
}

// signatureError is the client's error if its signature is not accepted.
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
