package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// canonical is one interpretation of a Version 4 request. There are several where senders differ in what they sign.
type canonical struct {
	host         string
	payload      []byte // hash of the body in hexadecimal, or UNSIGNED-PAYLOAD
	withoutToken bool   // X-Amz-Security-Token was added to the query after signing
	rawPath      bool   // the path is not normalised, as in S3
}

// appendRequest appends the canonical request of r:
//
//	method \n path \n query \n name:value \n ... \n \n signed headers \n payload hash
func (c *canonical) appendRequest(dst []byte, r *Request, s *Signature) []byte {
	dst = append(dst, r.Method...)
	dst = append(dst, '\n')
	dst = appendPath(dst, r.Path, !c.rawPath)
	dst = append(dst, '\n')
	if len(s.params) > 0 {
		without := []string{"X-Amz-Signature", securityToken}
		if !c.withoutToken {
			without = without[:1]
		}
		dst = appendCanonicalQuery(dst, s.params, without)
	}
	dst = append(dst, '\n')
	for name := range strings.SplitSeq(s.signedHeaders, ";") {
		dst = append(dst, name...)
		dst = append(dst, ':')
		switch values := headerValues(r.Header, name); {
		case name == "host":
			dst = append(dst, c.host...)
		case name == "content-length" && len(values) == 0:
			dst = strconv.AppendInt(dst, int64(len(r.Body)), 10)
		default:
			// A signed but absent header counts as empty, so signing its name prevents others from adding it.
			for i, v := range values {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = appendSqueezed(dst, v)
			}
		}
		dst = append(dst, '\n')
	}
	dst = append(dst, '\n')
	dst = append(dst, s.signedHeaders...)
	dst = append(dst, '\n')
	return append(dst, c.payload...)
}

// appendPath appends the escaped path, escaped once more: that is the rule for all services but S3.
func appendPath(dst []byte, path string, normalize bool) []byte {
	if normalize {
		path = normalizePath(path)
	}
	if path == "" {
		path = "/"
	}
	return appendEscaped(dst, path, true)
}

// normalizePath removes empty and dot segments. path.Clean is unsuitable: it drops the slash at the end.
func normalizePath(path string) string {
	if !strings.Contains(path, "//") && !strings.Contains(path, "/.") {
		return path
	}
	var kept []string
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, segment)
		}
	}
	clean := "/" + strings.Join(kept, "/")
	if len(kept) > 0 && strings.HasSuffix(path, "/") {
		clean += "/"
	}
	return clean
}

// headerValues looks up a header by its name in lower case, without allocating the canonical one.
func headerValues(h http.Header, name string) []string {
	var buf [64]byte
	key := append(buf[:0], name...)
	upper := true
	for i, c := range key {
		if upper && 'a' <= c && c <= 'z' {
			key[i] = c - 'a' + 'A'
		}
		upper = c == '-'
	}
	return h[string(key)]
}

// appendSqueezed appends v without spaces at its ends and with single spaces within, quoted or not.
func appendSqueezed(dst []byte, v string) []byte {
	v = strings.Trim(v, " \t")
	for {
		i := strings.Index(v, "  ")
		if i < 0 {
			return append(dst, v...)
		}
		dst = append(dst, v[:i+1]...)
		v = strings.TrimLeft(v[i:], " ")
	}
}

// appendStringToSign appends the text that a Version 4 signature signs:
//
//	algorithm \n timestamp \n scope \n hash of the canonical request
func (s *Signature) appendStringToSign(dst, canonicalRequest []byte) []byte {
	sum := sha256.Sum256(canonicalRequest)
	dst = append(dst, algorithm+"\n"...)
	dst = append(dst, s.timestamp...)
	dst = append(dst, '\n')
	dst = append(dst, s.scope...)
	dst = append(dst, '\n')
	return hex.AppendEncode(dst, sum[:])
}
