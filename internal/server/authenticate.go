package server

import (
	"errors"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/aws/signature"
)

// authenticateTwice is authenticate, of which only a node that is not behind has the
// last word.
func (x *exchange) authenticateTwice(call *protocol.Call, body []byte) error {
	perr := x.authenticate(call, body)
	if perr == nil {
		return nil
	}
	again, err := x.behind(perr)
	if !again {
		return err
	}
	if perr = x.authenticate(call, body); perr != nil {
		return perr
	}
	return nil
}

// authenticate finds out who the caller is, and which service and region are
// meant. Where a request to SQS has no signature the caller is anonymous, and
// whether that will do is decided later.
func (x *exchange) authenticate(call *protocol.Call, body []byte) *protocol.Error {
	var cred identity.Credential // of the key that the request names
	verified, err := x.verifier.Verify(signature.FromHTTP(x.r, body), x.began, func(keyID string) (_ string, ok bool) {
		cred, ok = x.server.lookup(keyID)
		return cred.Secret, ok
	})
	x.service = x.serviceOf(x.request, x.r.Host, verified.Service)
	call.Service = x.service.Name
	if err == nil {
		err = x.checkScope(&verified)
	}
	var refused *signature.Error
	switch {
	case err == nil:
		id, perr := x.introduce(cred.Identity, verified.Token)
		if perr != nil {
			return perr
		}
		x.caller = id
		call.Identity = id
		call.Region = verified.Region
	case !errors.As(err, &refused) || refused.Kind != signature.Unsigned:
		return signatureError(err)
	case x.service != x.services[0]:
		return protocol.MissingAuthenticationToken()
	}
	if call.Region == "" {
		call.Region = hostRegion(x.r.Host)
	}
	if call.Region == "" {
		call.Region = x.server.config.Region
	}
	if x.caller.Kind == identity.User && x.caller.Session == nil {
		x.server.directory.Used(x.caller.AccessKeyID, call.Service, call.Region, x.began)
	}
	return nil
}

// lookup returns whose an access key is and its secret. Of temporary keys only
// the token says whose they are.
func (s *Server) lookup(keyID string) (identity.Credential, bool) {
	if cred, ok := s.credentials.Lookup(keyID); ok {
		return cred, true
	}
	if identity.IsTemporary(keyID) {
		secret, ok := s.vault.TemporarySecret(keyID)
		return identity.Credential{Identity: identity.Identity{AccessKeyID: keyID}, Secret: secret}, ok
	}
	return s.directory.Lookup(keyID)
}

// introduce returns who has signed. Temporary keys come with a token of theirs,
// and are good until their time is over or whoever they act for is no more;
// others come without one.
func (x *exchange) introduce(id identity.Identity, token string) (identity.Identity, *protocol.Error) {
	if id.Kind != identity.Anonymous {
		if token != "" {
			return identity.Identity{}, protocol.UnrecognizedClient()
		}
		return id, nil
	}
	id, name, err := x.server.vault.Redeem(id.AccessKeyID, token)
	if err != nil {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	if !x.began.Before(id.Session.Expires) {
		return identity.Identity{}, protocol.ExpiredToken()
	}
	if _, ok := x.server.credentials.Root(id.Account); !ok {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	id, ok := x.server.directory.Resume(id, name)
	if !ok {
		return identity.Identity{}, protocol.UnrecognizedClient()
	}
	return id, nil
}

// checkScope makes sure that a signature is meant for this service. It may be
// for any region: each is a namespace of its own.
func (x *exchange) checkScope(v *signature.Verified) error {
	switch {
	case v.Version != 4:
		return nil // it has no scope
	case v.Service != x.service.Name:
		return signature.ServiceMismatch(x.service.Name)
	case v.Region != x.server.config.Region && !identity.IsRegion(v.Region):
		return signature.RegionMismatch(v.Region)
	}
	return nil
}
