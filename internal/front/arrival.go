package front

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// arrival is a received request, with the facts that are known before it is read.
type arrival struct {
	w     http.ResponseWriter
	r     *http.Request
	id    string
	began time.Time

	sourceIP  string // of the client
	encrypted bool   // all the way to the client, as far as known
	relayed   bool   // another node received it from the client, and this one owns the control store
	logged    bool   // requests were logged when this one began
}

// arrive receives a client's request.
func (f *Front) arrive(w http.ResponseWriter, r *http.Request) arrival {
	return arrival{
		w: w, r: r, id: uuid.NewString(), began: f.Now(), sourceIP: f.Proxies.client(r),
		encrypted: f.Proxies.encrypted(r),
	}
}

// region returns the region in the host name, or the server's region.
func (f *Front) region(host string) string {
	if named := hostRegion(host); named != "" {
		return named
	}
	return f.Region
}

// regionLabel matches a region in a host name: sqs.example.com has none.
var regionLabel = regexp.MustCompile(`^[a-z]{2,}(?:-[a-z]+)+-[0-9]{1,2}$`)

// hostRegion returns the region in a host name such as sqs.eu-west-1.example.com, or AWS's older eu-
// west-1.queue.amazonaws.com, or "".
func hostRegion(host string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	switch {
	case len(labels) > 2 && labels[0] == "sqs" && regionLabel.MatchString(labels[1]):
		return labels[1]
	case len(labels) > 2 && labels[1] == "queue" && regionLabel.MatchString(labels[0]):
		return labels[0]
	}
	return ""
}

// scheme returns the scheme that the client used. A proxy that terminates TLS sets a header. The header may be false,
// but it affects only the URLs in the client's own answer.
func scheme(r *http.Request) string {
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return "https"
	}
	return "http"
}
