package signin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// checkHost refuses requests with names that are not this server's: an attacker could point a name at the server, and a
// page of that name would have the server's origin for a browser. With TLS, the browser has verified the name.
func (s *Service) checkHost(r *http.Request) error {
	if r.TLS != nil || s.knowsHost(r.Host) {
		return nil
	}
	return refuse(
		http.StatusMisdirectedRequest,
		"UnknownHost",
		"The server does not know itself as %.100q. Start it with --public-url, or with --console-host and this name, if it is right.",
		r.Host,
	)
}

func (s *Service) knowsHost(host string) bool {
	if s.public != nil && strings.EqualFold(host, s.public.Host) {
		return true
	}
	name := strings.ToLower(hostname(host))
	if _, err := netip.ParseAddr(name); err == nil {
		return true // no other address can point here
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	return slices.ContainsFunc(s.o.Hosts, func(known string) bool { return strings.EqualFold(known, name) })
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
func (s *Service) checkOrigin(r *Request) error {
	if err := s.origins.Check(r.HTTP); err != nil {
		return refuse(http.StatusForbidden, "CrossOrigin", "The request comes from another site.")
	}
	if r.Name != "settings" && !isVisit(r.Name) && r.HTTP.Header.Get(Guard) == "" {
		return refuse(http.StatusForbidden, "NotFromConsole", "The request lacks the header %s.", Guard)
	}
	return nil
}

// isSecure reports whether the browser uses TLS, as far as known.
func (s *Service) isSecure(r *Request) bool {
	return r.Encrypted || s.public != nil && s.public.Scheme == "https" && strings.EqualFold(r.HTTP.Host, s.public.Host)
}

// cookieName returns the name of the cookie. Cookies ignore ports: servers on other ports of this machine have other
// names.
func (s *Service) cookieName(r *Request) string {
	name := "sluice"
	if _, port, err := net.SplitHostPort(r.HTTP.Host); err == nil && port != "" {
		name += "-" + port
	}
	if s.isSecure(r) {
		return "__Host-" + name
	}
	return name
}

// cookie returns a cookie that holds a token for the given number of seconds. A negative number deletes it.
func (s *Service) cookie(r *Request, token string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(r), Value: token, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: s.isSecure(r),
		SameSite: http.SameSiteStrictMode,
	}
}

// token returns what the browser's cookie holds.
func (s *Service) token(r *Request) string { return s.cookieValue(r, s.cookieName(r)) }

func (s *Service) cookieValue(r *Request, name string) string {
	for _, c := range r.HTTP.Cookies() {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// page returns the console's address for the browser.
func (s *Service) page(r *http.Request, secure bool) string {
	return s.base(r.Host, secure) + "/console/"
}

// base returns the beginning of the server's URLs.
func (s *Service) base(host string, secure bool) string {
	if s.o.PublicURL != "" {
		return strings.TrimRight(s.o.PublicURL, "/")
	}
	u := url.URL{Scheme: "http", Host: host}
	if secure {
		u.Scheme = "https"
	}
	return u.String()
}
