package signature

import "time"

// Foresee checks a request by its header, before its body has arrived. An error is the one that Verify will return for
// any body. Without an error, named reports whether the Authorization header names a key that lookup knows; other
// requests may still turn out to be signed, in the URL or in a form.
//
// It proves nothing. It serves to decide how much work to spend on a request before there is a proof.
func Foresee(
	r *Request, now time.Time, lookup func(accessKeyID string) (secret string, ok bool),
) (named bool, err error) {
	if !signedInHeader(r) {
		return false, nil
	}
	s, err := Parse(r)
	if err != nil {
		return false, err
	}
	if secret, known := lookup(s.Claims.AccessKeyID); secret == "" || !known {
		return false, unknownKey(s.Claims.Version)
	}
	return true, s.checkTime(now)
}
