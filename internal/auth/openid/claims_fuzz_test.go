package openid

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// For all claims of a provider: the name is valid for a session, or there is a short error; groups are few and short;
// and a claim is found as by the simplest search.
func FuzzDescribe(f *testing.F) {
	for _, seed := range []string{
		`{"email":"ann@example.com","email_verified":true,"groups":["a","b"]}`, `{"groups":"a"}`,
		`{"groups":{"a":{"x":"y"}}}`,
		`{"realm_access":{"roles":["a"]},"a.b":"c","a":{"b":"d"}}`, `{"email":["x"],"groups":[1,null,{}]}`, `{}`,
		`null`, `[]`, `{"groups":[[["a"]]]}`, `{"email":"\u0000","email":"x"}`,
	} {
		f.Add(seed, `{"email":"bob@example.com","email_verified":"true"}`, "email", "realm_access.roles")
		f.Add(seed, seed, "a.b", "groups")
	}
	f.Fuzz(func(t *testing.T, one, two, nameClaim, groupsClaim string) {
		var sources []claims
		for _, text := range []string{one, two} {
			c, err := parseClaims([]byte(text))
			var plain map[string]any
			if (err == nil) != (json.Unmarshal([]byte(text), &plain) == nil && plain != nil) {
				t.Fatalf("%q: %v", text, err)
			}
			sources = append(sources, c)
		}
		p := &Provider{config: Config{NameClaim: nameClaim, GroupsClaim: groupsClaim}}
		person := new(Person)
		err := p.describe(person, sources...)
		switch {
		case err == nil && !sessionName.MatchString(person.Name):
			t.Errorf("the name is %q", person.Name)
		case err != nil &&
			(!errors.Is(err, ErrNoName) || person.Name != "" || len(err.Error()) > 1200+4*len(nameClaim) ||
				utf8.ValidString(nameClaim) && !utf8.ValidString(err.Error())):
			t.Errorf("%q: %v", person.Name, err)
		}
		if len(person.Groups) > maxGroups {
			t.Errorf("%d groups", len(person.Groups))
		}
		for _, g := range person.Groups {
			if g == "" || len(g) > maxGroup ||
				!strings.Contains(one+two, g) && !strings.ContainsAny(one+two, `\`) && utf8.ValidString(one+two) {
				t.Errorf("the group %q", g)
			}
		}
	})
}
