package inspect

import (
	"encoding/base64"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// cursor reads the cursor of a request, which is empty for the beginning.
func cursor[C any](text string, decode func([]byte) (C, bool)) (c C, ok bool) {
	if text == "" {
		return c, true
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return c, false
	}
	return decode(b)
}

func cursorText(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func errCursor() error {
	return protocol.ValidationError("Cursor is not one that this operation has returned.")
}
