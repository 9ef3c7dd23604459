package envelope

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Signer makes signatures of one version.
type Signer interface {
	// Sign returns the signature of text, in base64.
	Sign(text []byte) (string, error)
	// Version is the version of the signature: 1 for SHA-1, 2 for SHA-256.
	Version() string
	// CertURL is the URL of the certificate.
	CertURL() string
}

// timestamp writes a time as SNS does, in milliseconds.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// signedText puts names and values on lines of their own, unchanged.
func signedText(pairs []string) []byte {
	return []byte(strings.Join(pairs, "\n") + "\n")
}

// writer writes a JSON object with a field on each line, as SNS does.
type writer struct{ b []byte }

func newWriter(size int) *writer { return &writer{append(make([]byte, 0, size), '{')} }

func (w *writer) name(name string) {
	if len(w.b) > 1 {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, "\n  "...)
	w.b = appendText(w.b, name)
	w.b = append(w.b, " : "...)
}

func (w *writer) field(name, value string) {
	w.name(name)
	w.b = appendText(w.b, value)
}

func (w *writer) signature(s Signer, signature string) {
	w.field("SignatureVersion", s.Version())
	w.field("Signature", signature)
	w.field("SigningCertURL", s.CertURL())
}

func (w *writer) attributes(list []Attribute) {
	w.name("MessageAttributes")
	w.b = append(w.b, '{')
	for i, a := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, "\n    "...)
		w.b = appendText(w.b, a.Name)
		w.b = append(w.b, ` : {"Type":`...)
		w.b = appendText(w.b, a.Type)
		w.b = append(w.b, `,"Value":`...)
		w.b = appendText(w.b, a.Value)
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, "\n  }"...)
}

func (w *writer) end() string { return string(append(w.b, "\n}"...)) }

// appendText writes a JSON string. Only characters that JSON requires to be escaped are; others stay unchanged.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	clean := 0 // where what is not written yet begins
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[clean:i]...), "\ufffd"...)
				clean = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[clean:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		clean = i
	}
	return append(append(b, s[clean:]...), '"')
}
