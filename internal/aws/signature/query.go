package signature

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

type parameter struct{ name, value string }

// parseQuery decodes a query string or a form body. The error is about the first pair that cannot be decoded; the other
// pairs are still returned, so that a signature is seen even in a request that is refused for another reason.
//
// Only "&" separates pairs, as where the parameters are used: a semicolon is part of a value, as in an example of the
// SQS guide, and is signed as such.
func parseQuery(raw string) (params []parameter, err error) {
	if raw == "" {
		return nil, nil
	}
	syntaxError := func(cause any) {
		if err == nil {
			err = refuse(MalformedQueryString, "The query string contains a syntax error: %v.", cause)
		}
	}
	params = make([]parameter, 0, strings.Count(raw, "&")+1)
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if e := cmp.Or(nameErr, valueErr); e != nil {
			syntaxError(e)
		}
		params = append(params, parameter{name, value})
	}
	return params, err
}

// has reports whether any of the names is in params.
func has(params []parameter, names []string) bool {
	return slices.ContainsFunc(params, func(p parameter) bool { return slices.Contains(names, p.name) })
}

// value returns the first value of the parameter called name, and how many values there are.
func value(params []parameter, name string) (value string, n int) {
	for i := range params {
		if params[i].name == name {
			if n == 0 {
				value = params[i].value
			}
			n++
		}
	}
	return value, n
}

// appendCanonicalQuery appends the canonical query of Version 4: encoded, then sorted. The sort must come second:
// "a/b" is after "a-b", but "a%2Fb" is before it.
func appendCanonicalQuery(dst []byte, params []parameter, without []string) []byte {
	encoded := make([]parameter, 0, len(params))
	for _, p := range params {
		if !slices.Contains(without, p.name) {
			encoded = append(encoded, parameter{escape(p.name), escape(p.value)})
		}
	}
	slices.SortFunc(encoded, func(a, b parameter) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
	})
	return appendPairs(dst, encoded)
}

// appendPairs appends parameters that are encoded and sorted.
func appendPairs(dst []byte, encoded []parameter) []byte {
	for i, p := range encoded {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, p.name...)
		dst = append(dst, '=')
		dst = append(dst, p.value...)
	}
	return dst
}

// escape percent-encodes everything but the unreserved characters of RFC 3986. url.QueryEscape differs in the space.
func escape(s string) string {
	for i := range len(s) {
		if !unreserved(s[i]) {
			return string(appendEscaped(make([]byte, 0, len(s)+16), s, false))
		}
	}
	return s
}

func appendEscaped(dst []byte, s string, keepSlash bool) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; unreserved(c) || keepSlash && c == '/' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '_' || c == '.' || c == '~'
}
