package signature

import (
	"log/slog"
	"strings"
	"time"
)

// Verifier verifies requests. The zero Verifier is ready for use and safe for concurrent use. It caches derived signing
// keys, so share one Verifier for all requests.
type Verifier struct {
	// Hosts are names by which clients reach the server through proxies that rewrite the Host header. They are tried
	// after the header itself. Do not change them once the Verifier is in use.
	Hosts []string
	// NoVersion2 refuses requests signed with Version 2.
	NoVersion2 bool

	rawPath bool // for tests: verify as S3 does, without normalising the path
	keys    signingKeys
}

// Verified is the sender of a request, proven by its signature.
type Verified struct {
	AccessKeyID string
	Version     int       // 2 or 4
	Region      string    // scope of the signature, empty in Version 2; the caller must check it
	Service     string    // likewise
	Token       string    // the session token presented, or ""; for the caller to check
	SignedAt    time.Time // zero in a Version 2 request that says Expires instead
	Presigned   bool      // the signature is in the URL, so any holder of the URL can send the request
	Host        string    // signed host: the Host header or one of Verifier.Hosts
}

// LogValue omits the token.
func (v Verified) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("access_key_id", v.AccessKeyID),
		slog.Int("version", v.Version),
		slog.String("region", v.Region),
		slog.String("service", v.Service),
		slog.Time("signed_at", v.SignedAt),
		slog.Bool("presigned", v.Presigned),
		slog.String("host", v.Host),
	)
}

// decoySecret replaces the secret of unknown keys, so that their refusal takes as long as any other.
const decoySecret = "0123456789012345678901234567890123456789"

// Verify verifies the signature of r at the time now. It calls lookup once for the secret of an access key id; an empty
// secret means none. Every error is an *Error.
func (v *Verifier) Verify(
	r *Request, now time.Time, lookup func(accessKeyID string) (secret string, ok bool),
) (Verified, error) {
	s, err := Parse(r)
	if err != nil {
		return Verified{}, err
	}
	if v.NoVersion2 && s.Claims.Version == 2 {
		return Verified{}, refuse(IncompleteSignature, "This server does not accept Signature Version 2; sign with Version 4.")
	}
	secret, known := lookup(s.Claims.AccessKeyID)
	if secret == "" || !known {
		secret, known = decoySecret, false // with an empty secret every client could sign
	}
	if known {
		if err := s.checkTime(now); err != nil {
			return Verified{}, err
		}
	}
	who, ok := s.Claims, false
	if who.Version == 2 {
		who.Host, ok = v.prove2(r, &s, secret)
	} else {
		who.Host, ok = v.prove4(r, &s, secret)
	}
	switch {
	case !known:
		return Verified{}, unknownKey(who.Version)
	case !ok:
		return Verified{}, mismatch()
	}
	return who, nil
}

// checkTime refuses signatures that are not yet, or no longer, valid.
func (s *Signature) checkTime(now time.Time) error {
	now = now.UTC()
	signed, earliest, latest := s.Claims.SignedAt, now.Add(-MaxSkew), now.Add(MaxSkew)
	if s.Claims.Version == 2 {
		switch {
		case !s.expires.IsZero() && now.After(s.expires):
			return refuse(RequestExpired, "Request has expired. Expires date: %s", s.time)
		case s.expires.After(now.Add(MaxExpires)):
			return invalidParameter("Expires", s.time, "Must be at most 7 days ahead.")
		case s.expires.IsZero() && signed.Before(earliest):
			return refuse(RequestExpired, "Request has expired. Timestamp date: %s", s.time)
		case s.expires.IsZero() && signed.After(latest):
			return refuse(RequestExpired, "Request is not yet valid. Timestamp date: %s", s.time)
		}
		return nil
	}
	basic := func(t time.Time) string { return t.Format(basicFormat) }
	scopeDay, _, _ := strings.Cut(s.scope, "/")
	switch day := s.timestamp[:len("20060102")]; {
	case scopeDay != day:
		return refuse(ScopeMismatch, "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "+
			"from HTTP: '%s' != '%s', from '%s'.", scopeDay, day, s.timestamp)
	case signed.Before(earliest):
		return refuse(Expired, "Signature expired: %s is now earlier than %s (%s - 15 min.)",
			s.timestamp, basic(earliest), basic(now))
	case signed.After(latest):
		return refuse(Expired, "Signature not yet current: %s is still later than %s (%s + 15 min.)",
			s.timestamp, basic(latest), basic(now))
	}
	return nil
}
