package front

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// A person who follows a link in a mail gets a page instead of XML. The page loads nothing and runs nothing.

const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color:#16191f;overflow-wrap:anywhere}h1{font-size:1.5rem}`

var pageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{{.Title}}</title>
<style>` + pageStyle + `</style>
</head>
<body>
<h1>{{.Title}}</h1>
{{range .Text}}<p>{{.}}</p>
{{end}}{{if .Link}}<p><a href="{{.Link}}" rel="nofollow noreferrer">{{.LinkTo}}</a></p>
{{end}}</body>
</html>
`))

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
var troubled = protocol.Page{Title: "This does not work at the moment", Text: []string{"Please open the link again in a minute."}}

// writeLinkPage answers with a page. The address that the browser shows may contain a token, so the browser must not
// send it to other sites.
func writeLinkPage(w http.ResponseWriter, id string, status int, p *protocol.Page) error {
	if status >= http.StatusInternalServerError {
		p = &troubled
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return err
	}
	h := w.Header()
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Length": strconv.Itoa(b.Len()),
		"Content-Security-Policy": pagePolicy,
		"X-Content-Type-Options":  "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cache-Control":    "no-store",
		"X-Amzn-Requestid": id,
	} {
		h.Set(name, value)
	}
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	return err
}
