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

// Code6 returns what an authenticator shows at some time (RFC 6238). The seed is in base32, or as the Query protocol has it in
// base64 over that.
func Code6(t *testing.T, seed string, at time.Time) string {
	t.Helper()
	plain := base32.StdEncoding.WithPadding(base32.NoPadding)
	key, err := plain.DecodeString(seed)
	if err != nil {
		text, err64 := base64.StdEncoding.DecodeString(seed)
		Must(t, text, err64)
		key, err = plain.DecodeString(string(text))
	}
	Must(t, key, err)
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, at.Unix()/30) // a hash takes everything
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}
