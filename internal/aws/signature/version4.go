package signature

import (
	"crypto/sha256"
	"encoding/hex"
)

// prove4 returns the host, if any, for which the signature was made with the secret.
func (v *Verifier) prove4(r *Request, s *Signature, secret string) (host string, ok bool) {
	var presented [sha256.Size]byte
	wellFormed := len(s.presented) == hex.EncodedLen(len(presented))
	if wellFormed {
		_, err := hex.Decode(presented[:], []byte(s.presented))
		wellFormed = err == nil
	}
	key := v.keys.get(secret, s.scope)
	cached := key != nil
	if !cached {
		key = deriveKey(secret, s.scope)
	}

	var sum [hashLength]byte
	payloads, n := s.payloads(r.Body, &sum)
	for i := -1; i < len(v.Hosts); i++ {
		host = r.Host
		if i >= 0 {
			host = v.Hosts[i]
		}
		for _, payload := range payloads[:n] {
			c := canonical{host: host, payload: payload, rawPath: v.rawPath}
			ok = key.verifies(&c, r, s, &presented)
			if !ok && s.Claims.Presigned && s.Claims.Token != "" {
				c.withoutToken = true
				ok = key.verifies(&c, r, s, &presented)
			}
			if ok && wellFormed {
				if !cached {
					v.keys.put(secret, s.scope, key)
				}
				return host, true
			}
		}
	}
	if cached {
		// only for the time it takes, which would otherwise distinguish known keys from unknown ones
		deriveKey(secret, s.scope)
	}
	return "", false
}

// hashLength is the length of a hash in hexadecimal.
const hashLength = 2 * sha256.Size

var unsigned = []byte(unsignedPayload)

// payloads returns the n values that may represent the body in the canonical request. One of them may be in hash.
//
// A presigned URL may mean UNSIGNED-PAYLOAD implicitly, as S3's do, but only without a body: otherwise any holder of
// the URL could choose one.
func (s *Signature) payloads(body []byte, hash *[hashLength]byte) (payloads [2][]byte, n int) {
	if s.payload == unsignedPayload {
		return [2][]byte{unsigned}, 1
	}
	sum := sha256.Sum256(body)
	hex.Encode(hash[:], sum[:])
	payloads = [2][]byte{hash[:], unsigned}
	switch {
	case s.payload == "" && s.Claims.Presigned && len(body) == 0:
		return payloads, 2
	case s.payload == "" || s.payload == string(hash[:]):
		return payloads, 1
	}
	return payloads, 0
}
