package openid

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Person is a person identified by the provider.
type Person struct {
	Issuer  string // the provider
	Subject string // unique for the provider, which never reuses it
	Name    string // valid as the name of a role's session
	Groups  []string
	Methods []string // the method of authentication: the claim amr
}

const (
	maxSubject = 255 // OpenID Connect Core, 2
	maxGroup   = 1024
	maxGroups  = 5000
	maxMethods = 20
)

// claims are the provider's statements about a person.
type claims map[string]any

func parseClaims(text []byte) (claims, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var c claims
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("the claims are no JSON object: %w", err)
	}
	if _, err := d.Token(); err != io.EOF || c == nil {
		return nil, errors.New("the claims are no JSON object")
	}
	return c, nil
}

// at returns a claim. realm_access.roles is the claim of that name or, if it does not exist, the member roles of the
// claim realm_access, and so on.
func (c claims) at(path string) (any, bool) {
	if v, ok := c[path]; ok {
		return v, v != nil
	}
	for i, r := range path {
		if r != '.' {
			continue
		}
		if inner, ok := c[path[:i]].(map[string]any); ok {
			if v, ok := claims(inner).at(path[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// texts returns the texts in a claim: a single text is a list of one, and an object lists the names of its members.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		all = []string{v}
	case []any:
		for _, one := range v {
			if s, ok := one.(string); ok {
				all = append(all, s)
			}
		}
	case map[string]any:
		all = slices.Sorted(maps.Keys(v))
	}
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" || len(s) > maxGroup })
	return all[:min(len(all), maxGroups)]
}

// sessionName matches the names of a role's sessions.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9_+=,.@-]{2,64}$`)

// name returns a person's name from a claim.
func (c claims) name(claim string) (string, error) {
	v, _ := c.at(claim)
	name, ok := v.(string)
	switch {
	case !ok || name == "":
		return "", fmt.Errorf("%w: there is no claim %s", ErrNoName, claim)
	case claim == UsualNameClaim && !c.isVerified():
		return "", fmt.Errorf(
			"%w: the provider does not confirm that the e-mail address is verified (email_verified); "+
				"--oidc-name-claim can name another claim",
			ErrNoName,
		)
	case !sessionName.MatchString(name):
		return "", fmt.Errorf(
			"%w: the claim %s is %s: a session's name has 2 to 64 of the characters A-Z a-z 0-9 _ + = , . @ -",
			ErrNoName,
			claim,
			brief(name),
		)
	}
	return name, nil
}

// isVerified reports whether the e-mail address belongs to the person. Some providers write the boolean as text.
func (c claims) isVerified() bool {
	return c["email_verified"] == true || c["email_verified"] == "true"
}

// lacks reports whether a claim of that name is missing.
func (c claims) lacks(claim string) bool {
	_, ok := c.at(claim)
	return !ok
}

// brief quotes the provider's text for the log.
func brief(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:200], ""))
	}
	return fmt.Sprintf("%q", s)
}
