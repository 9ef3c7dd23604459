package protocol

import (
	"encoding/base64"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// appendXML appends the members of v, a structure planned by p, as elements in the order of its fields.
func appendXML(dst []byte, p *plan, v reflect.Value) []byte {
	for i := range p.fields {
		f := &p.fields[i]
		fv := v.FieldByIndex(f.index)
		if f.query == "" || !f.present(fv) {
			continue
		}
		if f.precise {
			dst = appendClose(
				appendPrecise(appendOpen(dst, f.query), reflect.Indirect(fv).Interface().(time.Time)), f.query,
			)
			continue
		}
		if !f.plan.collection() {
			dst = appendElement(dst, f.query, f.plan, fv)
			continue
		}
		name := f.query
		if f.wrap != "" {
			dst = appendOpen(dst, f.query)
			name = f.wrap
		}
		if f.plan.shape == listShape {
			for i := range fv.Len() {
				dst = appendElement(dst, name, f.plan.elem, fv.Index(i))
			}
		} else {
			for key, value := range f.plan.entries(fv) {
				dst = appendOpen(dst, name)
				dst = appendOpen(dst, f.key)
				dst = appendEscaped(dst, key)
				dst = appendClose(dst, f.key)
				dst = appendElement(dst, f.value, f.plan.elem, value)
				dst = appendClose(dst, name)
			}
		}
		if f.wrap != "" {
			dst = appendClose(dst, f.query)
		}
	}
	return dst
}

// appendElement appends v, which is not a collection and is planned by p, as one element.
func appendElement(dst []byte, name string, p *plan, v reflect.Value) []byte {
	dst = appendOpen(dst, name)
	if p.pointer {
		if v.IsNil() {
			return appendClose(dst, name)
		}
		v = v.Elem()
	}
	switch p.shape {
	case stringShape:
		dst = appendEscaped(dst, v.String())
	case boolShape:
		dst = strconv.AppendBool(dst, v.Bool())
	case intShape:
		dst = strconv.AppendInt(dst, v.Int(), 10)
	case floatShape:
		dst = appendFloat(dst, v.Float())
	case blobShape:
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes())
	case timeShape:
		dst = v.Interface().(time.Time).UTC().AppendFormat(dst, isoFormat)
	case structShape:
		dst = appendXML(dst, p, v)
	}
	return appendClose(dst, name)
}

// appendText appends an element that contains text.
func appendText(dst []byte, name, text string) []byte {
	return appendClose(appendEscaped(appendOpen(dst, name), text), name)
}

func appendOpen(dst []byte, name string) []byte {
	dst = append(dst, '<')
	dst = append(dst, name...)
	return append(dst, '>')
}

// appendClose closes the element name. One that has stayed empty it turns into an empty-element tag, as AWS does.
func appendClose(dst []byte, name string) []byte {
	// A ">" in dst ends a tag, because text has it escaped.
	if open := len(dst) - len(name) - 2; open >= 0 && dst[len(dst)-1] == '>' && dst[open] == '<' &&
		string(dst[open+1:len(dst)-1]) == name {
		return append(dst[:len(dst)-1], '/', '>')
	}
	dst = append(dst, '<', '/')
	dst = append(dst, name...)
	return append(dst, '>')
}

// appendEscaped appends s as the text of an element. Carriage returns are escaped because parsers would turn them into
// line feeds, and quotes because AWS does so. Characters that XML cannot express become U+FFFD.
func appendEscaped(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainXML[c] {
			i++
			continue
		}
		width := 1
		replacement := string(utf8.RuneError)
		switch c {
		case '&':
			replacement = "&amp;"
		case '<':
			replacement = "&lt;"
		case '>':
			replacement = "&gt;"
		case '"':
			replacement = "&quot;"
		case '\r':
			replacement = "&#xD;"
		default:
			var r rune
			r, width = utf8.DecodeRuneInString(s[i:])
			if r >= utf8.RuneSelf && (r != utf8.RuneError || width > 1) && r != 0xfffe && r != 0xffff {
				i += width
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = append(dst, replacement...)
		i += width
		start = i
	}
	return append(dst, s[start:]...)
}

// plainXML has the ASCII characters that stand for themselves in XML text.
var plainXML = func() (plain [256]bool) {
	for c := range utf8.RuneSelf {
		plain[c] = c >= ' ' || c == '\t' || c == '\n'
	}
	for _, c := range `&<>"` {
		plain[c] = false
	}
	return plain
}()
