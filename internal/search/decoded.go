package search

import "bytes"

// decoded returns the body with the escapes of its strings resolved, or nil if it is not JSON or has no escapes.
// Programs may write "Zoë" as "Zo\u00eb": a person searches for the former. The result is computed once for all terms,
// and is no longer than the body.
func (m *Item) decoded() []byte {
	if m.hasDecoded {
		return m.decodedBody
	}
	m.hasDecoded = true
	if bytes.IndexByte(m.Body, '\\') >= 0 && m.isDocument() {
		m.decodedBody = unescape(m.Body)
	}
	return m.decodedBody
}

// unescape resolves the escapes of all strings of a valid document.
func unescape(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		at := bytes.IndexByte(b, '"')
		if at < 0 {
			break
		}
		end := at + skipString(b[at:])
		out = append(out, b[:at+1]...)
		out = append(out, scalar(b[at:end])...)
		out = append(out, '"')
		b = b[end:]
	}
	return append(out, b...)
}
