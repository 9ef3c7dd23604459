package signin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard tells requests of the console's own page from all others, and knows by which addresses browsers reach the
// server.
type guard struct {
	publicURL string   // of the server behind its proxy; empty: it has none
	public    *url.URL // likewise; nil: none
	hosts     []string // further names by which browsers may reach the server
	origins   *http.CrossOriginProtection
}

func newGuard(publicURL string, hosts []string) *guard {
	g := &guard{publicURL: publicURL, hosts: hosts, origins: http.NewCrossOriginProtection()}
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		g.public = u
		_ = g.origins.AddTrustedOrigin(u.Scheme + "://" + u.Host) // which is one
	}
	return g
}

// checkHost refuses requests with names that are not this server's: an attacker could point a name at the server, and a
// page of that name would have the server's origin for a browser. With TLS, the browser has verified the name.
func (g *guard) checkHost(r *http.Request) error {
	if r.TLS != nil || g.knowsHost(r.Host) {
		return nil
	}
	return refuse(
		http.StatusMisdirectedRequest,
		"UnknownHost",
		"The server does not know itself as %.100q. Start it with --public-url, or with --console-host and this name, if it is right.",
		r.Host,
	)
}

func (g *guard) knowsHost(host string) bool {
	if g.public != nil && strings.EqualFold(host, g.public.Host) {
		return true
	}
	name := strings.ToLower(hostname(host))
	if _, err := netip.ParseAddr(name); err == nil {
		return true // no other address can point here
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	return slices.ContainsFunc(g.hosts, func(known string) bool { return strings.EqualFold(known, name) })
}

// hostname returns a Host header without its port and the brackets of an address.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// checkOrigin refuses requests that do not come from the console's page, unless the browser sends them when a person
// visits an address.
func (g *guard) checkOrigin(r *Request) error {
	if err := g.origins.Check(r.HTTP); err != nil {
		return refuse(http.StatusForbidden, "CrossOrigin", "The request comes from another site.")
	}
	if r.Name != "settings" && !isVisit(r.Name) && r.HTTP.Header.Get(Guard) == "" {
		return refuse(http.StatusForbidden, "NotFromConsole", "The request lacks the header %s.", Guard)
	}
	return nil
}

// isSecure reports whether the browser uses TLS, as far as known.
func (g *guard) isSecure(r *Request) bool {
	return r.Encrypted || g.public != nil && g.public.Scheme == "https" && strings.EqualFold(r.HTTP.Host, g.public.Host)
}

// cookieName returns the name of the cookie. Cookies ignore ports: servers on other ports of this machine have other
// names.
func (g *guard) cookieName(r *Request) string {
	name := "sluice"
	if _, port, err := net.SplitHostPort(r.HTTP.Host); err == nil && port != "" {
		name += "-" + port
	}
	if g.isSecure(r) {
		return "__Host-" + name
	}
	return name
}

// cookie returns a cookie that holds a token for the given number of seconds. A negative number deletes it.
func (g *guard) cookie(r *Request, token string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: g.cookieName(r), Value: token, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: g.isSecure(r),
		SameSite: http.SameSiteStrictMode,
	}
}

// token returns the content of the browser's cookie.
func (g *guard) token(r *Request) string { return g.cookieValue(r, g.cookieName(r)) }

func (g *guard) cookieValue(r *Request, name string) string {
	for _, c := range r.HTTP.Cookies() {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// page returns the console's address for the browser.
func (g *guard) page(r *http.Request, secure bool) string {
	return g.base(r.Host, secure) + "/console/"
}

// base returns the beginning of the server's URLs.
func (g *guard) base(host string, secure bool) string {
	if g.publicURL != "" {
		return strings.TrimRight(g.publicURL, "/")
	}
	u := url.URL{Scheme: "http", Host: host}
	if secure {
		u.Scheme = "https"
	}
	return u.String()
}
