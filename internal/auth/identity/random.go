package identity

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// letters are the letters of AWS's ids.
var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// randomLetters returns n letters, each of which is worth 5 random bits.
func randomLetters(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return letters.EncodeToString(b)[:n]
}

// NewID returns an id in AWS's form: a prefix of four letters for its kind, AIDA for a user, and 17 random letters.
func NewID(prefix string) string { return prefix + randomLetters(17) }

// NewKeyID returns an id in the form of AWS's long-term access keys.
func NewKeyID() string { return "AKIA" + randomLetters(16) }

// NewSecret returns 40 characters with 240 bits of randomness. The alphabet
// has no character that shells or URLs treat specially. A secret does not begin
// with a hyphen, which programs would take for an option.
func NewSecret() string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for {
		b := make([]byte, 40)
		rand.Read(b)
		for i := range b {
			b[i] = alphabet[b[i]%64]
		}
		if !beginsLikeOption(string(b)) {
			return string(b)
		}
	}
}

func beginsLikeOption(secret string) bool { return strings.HasPrefix(secret, "-") }
