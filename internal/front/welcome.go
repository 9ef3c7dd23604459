package front

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// isVisit reports whether r comes from a browser that opens the server's address: a request for a page, without
// parameters or signature. Programs get the answer of SQS to a request without an action.
func isVisit(r *http.Request, prefix string) bool {
	return (r.URL.Path == "/" || r.URL.Path == prefix || r.URL.Path == prefix+"/") && r.URL.RawQuery == "" &&
		r.ContentLength == 0 && strings.Contains(r.Header.Get("Accept"), "text/html") &&
		r.Header.Get("Authorization") == "" && r.Header.Get("X-Amz-Target") == ""
}

const welcome = `This is Sluice %s, a message queue service that speaks Amazon SQS.

Point an AWS SDK or the AWS CLI at this address, for example with
AWS_ENDPOINT_URL_SQS, and use it as you would use SQS. IAM and STS are here, too.
Every request has to be signed with an access key of this server.

Documentation: https://github.com/sluicemq/sluice#readme
Health: /healthz and /readyz
`

// welcome explains to a person what this server is.
func (f *Front) welcome(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, fmt.Sprintf(welcome, f.Version)) // a client that has left needs no answer
}
