package trail

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// part returns JSON as a part of an event, or a note if it is too long.
func part(b []byte) json.RawMessage {
	switch {
	case len(b) == 0:
		return nil
	case len(b) > maxPart:
		return fmt.Appendf(nil, `{"omitted":true,"originalSize":%d,"reason":"it is longer than %d bytes"}`, len(b), maxPart)
	}
	b = []byte(strings.ToValidUTF8(string(b), "\uFFFD"))
	if !json.Valid(b) {
		return json.RawMessage(`{"omitted":true,"reason":"it is no text"}`)
	}
	return b
}

// text returns a client's text as a part of an event.
func text(s string) string { return protocol.Shorten(s, maxText) }
