package apitest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"testing"
	"time"
)

// Code6 is TOTP for tests.
func Code6(t *testing.T, seed string, at time.Time) string {
	t.Helper()
	code, err := TOTP(seed, at)
	return Must(t, code, err)
}

// TOTP returns the code that an authenticator shows at a time (RFC 6238). The seed is in base32, or as the Query
// protocol has it in base64 over that.
func TOTP(seed string, at time.Time) (string, error) {
	plain := base32.StdEncoding.WithPadding(base32.NoPadding)
	key, err := plain.DecodeString(seed)
	if err != nil {
		text, err := base64.StdEncoding.DecodeString(seed)
		if err != nil {
			return "", err
		}
		if key, err = plain.DecodeString(string(text)); err != nil {
			return "", err
		}
	}
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, at.Unix()/30) // a hash accepts everything
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000), nil
}
