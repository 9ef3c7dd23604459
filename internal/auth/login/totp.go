package login

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"
)

// Second factors are time-based one-time passwords, RFC 6238, as all authenticators make them: SHA-1, six digits, half
// a minute.
const (
	stepSeconds = 30
	codeDigits  = 6
	// drift is how many steps the clock of an authenticator may be off.
	drift = 1
	// resyncDrift is how many steps it may be off when it is resynchronized: twenty minutes.
	resyncDrift = 40
)

// SeedSize is the size of a second factor's seed in bytes, as RFC 4226 recommends.
const SeedSize = 20

// stepOf returns the step of a time.
func stepOf(now time.Time) int64 { return now.Unix() / stepSeconds }

// code returns the code of a step.
func code(seed []byte, step int64) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac := hmac.New(sha1.New, seed)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	n := binary.BigEndian.Uint32(sum[at:]) & 0x7fffffff
	return fmt.Sprintf("%0*d", codeDigits, n%1_000_000)
}

// match returns the step of a code, if it is near now and later than after; otherwise 0.
func match(seed []byte, written string, now time.Time, after int64) int64 {
	found := int64(0)
	for step := stepOf(now) - drift; step <= stepOf(now)+drift; step++ {
		if subtle.ConstantTimeCompare([]byte(code(seed, step)), []byte(written)) == 1 && step > after {
			found = step
		}
	}
	return found
}

// matchTwo returns the step of the second of two successive codes near now; otherwise 0.
func matchTwo(seed []byte, first, second string, now time.Time) int64 {
	return matchWithin(seed, first, second, stepOf(now)-drift-1, stepOf(now)+drift)
}

// matchWithin returns the step of the second of two successive codes, the first of which has a step from one to the
// other; otherwise 0.
func matchWithin(seed []byte, first, second string, from, to int64) int64 {
	for step := from; step <= to; step++ {
		if code(seed, step) == first && code(seed, step+1) == second {
			return step + 1
		}
	}
	return 0
}

// URI returns the content of the QR code for authenticators: the seed and its owner.
func URI(user, seed string) string {
	q := url.Values{"secret": {seed}, "issuer": {"Sluice"}}
	return "otpauth://totp/" + url.PathEscape("Sluice:"+user) + "?" + q.Encode()
}
