package front

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// A person who follows a link in a mail gets a page instead of XML. The page loads nothing and runs nothing.

const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color:#16191f;overflow-wrap:anywhere}h1{font-size:1.5rem}`

const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<style>` + pageStyle + `</style>
`

// pageOf returns a page as HTML. It escapes all content, and omits a link that does not lead to a web site.
func pageOf(p *protocol.Page) []byte {
	var b bytes.Buffer
	title := html.EscapeString(p.Title)
	b.WriteString(pageHead + "<title>" + title + "</title>\n</head>\n<body>\n<h1>" + title + "</h1>\n")
	for _, text := range p.Text {
		b.WriteString("<p>" + html.EscapeString(text) + "</p>\n")
	}
	if strings.HasPrefix(p.Link, "https://") || strings.HasPrefix(p.Link, "http://") {
		b.WriteString(`<p><a href="` + html.EscapeString(p.Link) + `" rel="nofollow noreferrer">` +
			html.EscapeString(p.LinkTo) + "</a></p>\n")
	}
	b.WriteString("</body>\n</html>\n")
	return b.Bytes()
}

// pagePolicy allows the page only its style.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(
		sum[:],
	) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// linkPage returns the page for a person's browser in place of the answer, or nil if the client is no browser that
// follows a link.
func (x *request) linkPage() *protocol.Page {
	if x.call == nil || x.r.Method != http.MethodGet || !strings.Contains(x.r.Header.Get("Accept"), "text/html") {
		return nil
	}
	return x.call.Page
}

// troubled is the page of a request that may succeed later.
var troubled = protocol.Page{
	Title: "This does not work at the moment", Text: []string{"Please open the link again in a minute."},
}

// writeLinkPage answers with a page. The address that the browser shows may contain a token, so the browser must not
// send it to other sites.
func writeLinkPage(w http.ResponseWriter, id string, status int, p *protocol.Page) error {
	if status >= http.StatusInternalServerError {
		p = &troubled
	}
	page := pageOf(p)
	h := w.Header()
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Length": strconv.Itoa(len(page)),
		"Content-Security-Policy": pagePolicy,
		"X-Content-Type-Options":  "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cache-Control":    "no-store",
		"X-Amzn-Requestid": id,
	} {
		h.Set(name, value)
	}
	w.WriteHeader(status)
	_, err := w.Write(page)
	return err
}
