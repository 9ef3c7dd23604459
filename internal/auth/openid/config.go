package openid

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Config names the provider of single sign-on, and the people who may sign in.
type Config struct {
	Issuer           string   // its URL; empty: single sign-on is off
	ClientID         string   // of this server at the provider
	ClientSecretFile string   // with the client's secret; empty: none
	Name             string   // of the provider, for people; empty: its host
	Scopes           []string // requested scopes
	NameClaim        string   // the claim with a person's name
	GroupsClaim      string   // the claim with a person's groups
	Roles            []string // GROUP=ARN: the role of a group's members; the first match counts
}

// Defaults of Config.
const (
	UsualNameClaim   = "email"
	UsualGroupsClaim = "groups"
)

// UsualScopes are the default scopes.
func UsualScopes() []string { return []string{"openid", "email", "profile"} }

const (
	maxOption    = 256 // maximum length of a name, id or claim, in bytes
	maxScopes    = 20
	maxRoles     = 1000
	maxSecret    = 4096
	rolePrefix   = "arn:aws:iam::"
	scopeLetters = "!#$%&'()*+,-./:;<=>?@[]^_`{|}~" // beside letters and digits (RFC 6749, 3.3)
)

// role is the role of a group.
type role struct{ group, arn string }

var rolePattern = regexp.MustCompile(`^arn:aws:iam::[0-9]{12}:role/[\x21-\x7e]{1,512}$`)

// Validate returns one clear sentence about the first mistake.
func (c *Config) Validate() error {
	if c.Issuer == "" {
		return nil
	}
	if err := checkURL(c.Issuer); err != nil {
		return fmt.Errorf("--oidc-issuer %q: %w", c.Issuer, err)
	}
	if u, err := url.Parse(c.Issuer); err != nil || u.RawQuery != "" || u.ForceQuery {
		return fmt.Errorf("--oidc-issuer %q: want a URL without a query", c.Issuer)
	}
	for flag, value := range map[string]string{
		"client-id": c.ClientID, "name-claim": c.NameClaim, "groups-claim": c.GroupsClaim,
	} {
		if value == "" || len(value) > maxOption {
			return fmt.Errorf("--oidc-%s: --oidc-issuer needs one, of at most %d bytes", flag, maxOption)
		}
	}
	if len(c.Name) > maxOption {
		return fmt.Errorf("--oidc-name: want at most %d bytes", maxOption)
	}
	if len(c.Scopes) > maxScopes {
		return fmt.Errorf("--oidc-scope: want at most %d", maxScopes)
	}
	for _, scope := range c.Scopes {
		if !isScope(scope) {
			return fmt.Errorf("--oidc-scope %q: want a word such as groups; repeat the flag for several", scope)
		}
	}
	if len(c.Roles) == 0 || len(c.Roles) > maxRoles {
		return fmt.Errorf(
			"--oidc-role: want 1 to %d, such as admins=arn:aws:iam::000000000000:role/admin; without a role no user can sign in",
			maxRoles,
		)
	}
	_, err := c.roles()
	return err
}

func isScope(s string) bool {
	return s != "" && len(s) <= maxOption &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+scopeLetters) == ""
}

// roles parses Roles. A group may contain any characters, so it ends where the last ARN begins.
func (c *Config) roles() ([]role, error) {
	var all []role
	for _, text := range c.Roles {
		i := strings.LastIndex(text, "="+rolePrefix)
		if i < 1 || i > maxGroup || !rolePattern.MatchString(text[i+1:]) {
			return nil, fmt.Errorf("--oidc-role %q: want GROUP=ARN, such as admins=arn:aws:iam::000000000000:role/admin", text)
		}
		all = append(all, role{text[:i], text[i+1:]})
	}
	return all, nil
}

// scopes returns the requested scopes, one of which OpenID Connect requires.
func (c *Config) scopes() []string {
	if slices.Contains(c.Scopes, "openid") {
		return c.Scopes
	}
	return append([]string{"openid"}, c.Scopes...)
}

// secret reads the client's secret, which may be replaced while the server runs.
func (c *Config) secret() (string, error) {
	if c.ClientSecretFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(c.ClientSecretFile)
	if err != nil {
		return "", fmt.Errorf("--oidc-client-secret-file: %w", err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" || len(secret) > maxSecret {
		return "", fmt.Errorf("--oidc-client-secret-file %s: want a secret of 1 to %d bytes", c.ClientSecretFile, maxSecret)
	}
	return secret, nil
}

// checkURL refuses URLs that are not safe for secrets: everything except https, and http on this machine.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Opaque != "":
		return errors.New("want a URL such as https://login.example.com")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return errors.New("want https://; http:// is for providers on this machine")
}

// checkSecure refuses URLs that are not https.
func checkSecure(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return errors.New("want a URL such as https://login.example.com")
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
