package protocol

import "strings"

// Form is the parameters of a Query request in the order in which they count.
type Form []Parameter

// Parameter is one parameter of a form, decoded.
type Parameter struct {
	Name, Value string
}

// maxParameters is how many parameters a form may have: a batch of ten with all that entries can carry has a few
// hundred.
const maxParameters = 10_000

// Get returns the value of the first parameter called name, or "".
func (f Form) Get(name string) string {
	v, _ := f.Lookup(name)
	return v
}

// Lookup returns the value of the first parameter called name, and whether there is one.
func (f Form) Lookup(name string) (string, bool) {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value, true
		}
	}
	return "", false
}

// appendForm parses a form or the query of a URL and appends its parameters to f. Only "&" separates parameters, since
// values of old clients contain bare semicolons. Parameters without a name are dropped, those without "=" are empty.
func appendForm(f Form, s string) (Form, error) {
	n := strings.Count(s, "&") + 1
	if len(f)+n > maxParameters {
		return f, InvalidRequest("The request has more than %d parameters.", maxParameters)
	}
	if f == nil {
		f = make(Form, 0, n)
	}
	for s != "" {
		var part string
		part, s, _ = strings.Cut(s, "&")
		name, value, _ := strings.Cut(part, "=")
		name, ok := unescape(name)
		if !ok {
			return f, MalformedQueryString("The name of a parameter has a percent sign that two hexadecimal digits do not follow.")
		}
		if name == "" {
			continue
		}
		value, ok = unescape(value)
		if !ok {
			return f, MalformedQueryString(
				"The value of the parameter %.100s has a percent sign that two hexadecimal digits do not follow.",
				name,
			)
		}
		f = append(f, Parameter{name, value})
	}
	return f, nil
}

// unescape decodes the escapes of a form. It reports whether they are well-formed.
func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '+') < 0 {
		return s, true
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '+':
			c = ' '
		case '%':
			if i+2 >= len(s) {
				return "", false
			}
			high, low := hexDigit(s[i+1]), hexDigit(s[i+2])
			if high > 15 || low > 15 {
				return "", false
			}
			c = high<<4 | low
			i += 2
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
