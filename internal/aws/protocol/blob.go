package protocol

import (
	"encoding/base64"
	"strings"
)

var base64Strict = base64.StdEncoding.Strict()

// decodeBase64 decodes standard base64 with its padding. Line breaks, which the standard library would let pass, are
// refused: they are not in the alphabet. The result is not nil.
func decodeBase64(s string) ([]byte, bool) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, false
	}
	b, err := base64Strict.DecodeString(s)
	return b, err == nil
}
