package http1

import (
	"bytes"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

// A verdict decides how to continue with the received bytes.
type verdict int

const (
	incomplete verdict = iota // more of the head must come
	plain                     // the head is complete
	foreign                   // net/http reads it
)

// head is the part before the body of a plain request.
type head struct {
	target string // as sent
	url    *url.URL
	host   string
	header http.Header // without Host
	length int64       // of the body
}

const (
	before = "POST "
	after  = " HTTP/1.1"

	endOfLine = "\r\n"
)

// maxLines is the maximum number of headers in a plain request.
const maxLines = 100

// endOfHead is the end of a head: the end of its last line, and an empty line.
var endOfHead = []byte(endOfLine + endOfLine)

// judge examines the beginning of a request. If the head is complete, judge returns its length, and plain; parse may
// still find that it is not.
func judge(b []byte) (length int, v verdict) {
	if n := min(len(b), len(before)); string(b[:n]) != before[:n] {
		return 0, foreign
	}
	if i := bytes.Index(b, endOfHead); i >= 0 {
		return i + len(endOfHead), plain
	}
	if len(b) == bufferSize {
		return 0, foreign
	}
	return 0, incomplete
}

// parse parses a complete head. It returns false unless the request is plain.
//
// Each line ends with CR LF, and neither occurs elsewhere, because all other bytes must be printable ASCII. So there is
// only one way to divide a head into lines. Continuation lines begin with a space, which is not allowed in a name.
//
// The values share one copy of the head, except those that handlers keep while a request waits.
func parse(b []byte, maxBody int64) (h head, ok bool) {
	line, rest, ok := strings.Cut(string(b), endOfLine)
	if !ok || !h.setTarget(line) {
		return h, false
	}
	lines := strings.Count(rest, endOfLine) - 1
	if lines > maxLines {
		return h, false
	}
	h.header = make(http.Header, lines)
	h.length = -1
	values := make([]string, lines)
	for {
		if line, rest, ok = strings.Cut(rest, endOfLine); !ok {
			return h, false
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := cutLine(line)
		if !ok || !h.add(name, value, maxBody, &values) {
			return h, false
		}
	}
	return h, len(rest) == 0 && h.host != "" && h.length >= 0
}

// root is the URL of most requests. Handlers do not change it.
var root = url.URL{Path: "/"}

// setTarget parses the request line without its end. The target may have the characters of paths and queries.
func (h *head) setTarget(line string) bool {
	target, ok := strings.CutPrefix(line, before)
	if !ok {
		return false
	}
	if target, ok = strings.CutSuffix(target, after); !ok || len(target) == 0 || target[0] != '/' {
		return false
	}
	if len(target) == 1 {
		h.target, h.url = "/", &root
		return true
	}
	if !consists(target, ofTargets) {
		return false
	}
	h.target = strings.Clone(target)
	var err error
	h.url, err = url.ParseRequestURI(h.target)
	return err == nil
}

// cutLine splits the line of a header.
func cutLine(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok || name == "" || !consists(name, ofNames) {
		return "", "", false
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' {
			return "", "", false
		}
	}
	return name, strings.Trim(value, " "), true
}

// consists reports whether all characters are of a class.
func consists(s string, class byte) bool {
	for i := range len(s) {
		if classes[s[i]]&class == 0 {
			return false
		}
	}
	return true
}

// add adds a header. It returns false if requests with it are not plain. The first value of a name gets its list from
// values.
func (h *head) add(name, value string, maxBody int64, values *[]string) bool {
	key := canonical(name)
	switch key {
	case "Host":
		ok := h.host == "" && isHost(value)
		h.host = strings.Clone(value)
		return ok
	case "User-Agent", "X-Amz-Target", "X-Amzn-Trace-Id":
		value = strings.Clone(value)
	case "Content-Length":
		if h.length >= 0 || !isLength(value) {
			return false
		}
		var err error
		if h.length, err = strconv.ParseInt(value, 10, 64); err != nil || h.length > maxBody {
			return false
		}
	case "Connection":
		if !strings.EqualFold(value, "keep-alive") {
			return false
		}
	case "Transfer-Encoding", "Trailer", "Te", "Expect", "Upgrade", "Http2-Settings", "Proxy-Connection", "Pragma":
		return false
	}
	if have := h.header[key]; have != nil {
		h.header[key] = append(have, value)
		return true
	}
	(*values)[0] = value
	h.header[key], *values = (*values)[:1:1], (*values)[1:]
	return true
}

// isHost reports whether a value of Host has only the characters of names, addresses and ports.
func isHost(value string) bool { return value != "" && consists(value, ofHosts) }

// isLength reports whether a value of Content-Length is a number in its only valid form.
func isLength(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < '0' || c > '9' {
			return false
		}
	}
	return len(value) == 1 || len(value) > 1 && value[0] != '0'
}

// canonical returns the name of a header in the form of http.Header.
func canonical(name string) string {
	if key, ok := known[name]; ok {
		return key
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

// known holds the names that SDKs send, in canonical form and in lower case, so that each exists once in memory.
var known = func() map[string]string {
	out := make(map[string]string)
	for _, key := range []string{
		"Accept", "Accept-Encoding", "Amz-Sdk-Invocation-Id", "Amz-Sdk-Request", "Authorization", "Connection",
		"Content-Encoding", "Content-Length", "Content-Type", "Host", "User-Agent", "X-Amz-Content-Sha256",
		"X-Amz-Date",
		"X-Amz-Security-Token", "X-Amz-Target", "X-Amz-User-Agent", "X-Amzn-Query-Mode", "X-Amzn-Trace-Id",
		"X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Proto",
	} {
		out[key], out[strings.ToLower(key)] = key, key
	}
	return out
}()

// Classes of characters.
const (
	ofNames   = 1 << iota // RFC 9110: tchar
	ofTargets             // RFC 3986: unreserved, sub-delims, ":", "@", "/", "?", "%"
	ofHosts               // unreserved, ":", "[", "]"
)

var classes = func() (out [256]byte) {
	for class, others := range map[byte]string{
		ofNames: "!#$%&'*+-.^_`|~", ofTargets: "-._~!$&'()*+,;=:@/?%", ofHosts: "-._~:[]",
	} {
		const alphanumeric = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		for _, c := range []byte(alphanumeric + others) {
			out[c] |= class
		}
	}
	return out
}()
