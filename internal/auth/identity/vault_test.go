package identity

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

func TestVaultKeepsItsKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	if _, err := OpenVault(path); !errors.Is(err, ErrNoMasterKey) {
		t.Errorf("without a file: %v", err)
	}
	v, err := CreateVault(path)
	if err != nil {
		t.Fatal(err)
	}
	sealed := v.Seal("AKIA1", "hush")
	if strings.Contains(string(sealed), "hush") {
		t.Error("the secret is in plaintext")
	}
	again, err := OpenVault(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Open("AKIA1", sealed); got != "hush" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := again.Open("AKIA2", sealed); err == nil {
		t.Error("a secret can be put under another name")
	}
	if _, err := NewVault().Open("AKIA1", sealed); err == nil {
		t.Error("another key opens it")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenVault(path); err == nil || !strings.Contains(err.Error(), "read by others") {
		t.Errorf("a key file that others can read: %v", err)
	}
	for _, text := range []string{"", "abc", strings.Repeat("0", 62), strings.Repeat("g", 64)} {
		bad := filepath.Join(t.TempDir(), "master.key")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenVault(bad); err == nil {
			t.Errorf("%q is accepted as a key", text)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	v := NewVault()
	now := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	s := &Session{
		Issuer: "arn:aws:iam::111122223333:role/r", IssuerID: "AROA1", Issued: now, Expires: now.Add(time.Hour),
		Terms: Terms{
			Policies: []string{`{"Statement":[]}`}, PolicyARNs: []string{"arn:aws:iam::aws:policy/X"},
			Tags:       map[string]string{"a": "b"},
			Transitive: []string{"a"}, SourceIdentity: "ann",
			Provider: "arn:aws:iam::111122223333:oidc-provider/p.example",
		},
	}
	issue := func(v *Vault, kind policy.CallerKind, account, name string) Temporary {
		t.Helper()
		key, err := v.Issue(kind, account, name, s)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	key := issue(v, policy.AssumedRole, "111122223333", "s1")
	if secret, ok := v.TemporarySecret(key.AccessKeyID); !ok || secret != key.Secret || len(secret) != 40 {
		t.Errorf("secret %q, %t, want %q", secret, ok, key.Secret)
	}
	id, name, err := v.Redeem(key.AccessKeyID, key.Token)
	want := Identity{
		Caller: policy.Caller{
			Kind: policy.AssumedRole, Account: "111122223333", Issuer: s.Issuer, IssuerID: s.IssuerID, Issued: s.Issued,
			Tags:           s.Tags,
			SourceIdentity: s.SourceIdentity, Provider: s.Provider,
		},
		AccessKeyID: key.AccessKeyID, Session: s,
	}
	if err != nil || name != "s1" || !reflect.DeepEqual(id, want) {
		t.Errorf("%+v, %q, %v", id, name, err)
	}
	other := issue(v, policy.AssumedRole, "111122223333", "s1")
	if other.AccessKeyID == key.AccessKeyID || other.Secret == key.Secret || other.Token == key.Token {
		t.Error("two sessions have the same keys")
	}
	for what, c := range map[string]struct{ key, token string }{
		"no token":          {key.AccessKeyID, ""},
		"another's token":   {key.AccessKeyID, other.Token},
		"a changed token":   {key.AccessKeyID, flip(key.Token, 40)},
		"a cut token":       {key.AccessKeyID, key.Token[:len(key.Token)-4]},
		"a token and more":  {key.AccessKeyID, key.Token + "AAAA"},
		"not base64":        {key.AccessKeyID, "token!"},
		"much too long":     {key.AccessKeyID, strings.Repeat("A", maxToken+4)},
		"a sealed secret":   {key.AccessKeyID, string(v.Seal(tokenPurpose, "{}"))},
		"another vault's":   {key.AccessKeyID, issue(NewVault(), policy.User, "1", "").Token},
		"a long-term key's": {"AKIAIOSFODNN7EXAMPLE", key.Token},
	} {
		if _, _, err := v.Redeem(c.key, c.token); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, id := range []string{"", "ASIA", "ASIAIOSFODNN7EXAMPLE", flip(key.AccessKeyID, 8), flip(key.AccessKeyID, 19),
		key.AccessKeyID + "A", "AKIA" + key.AccessKeyID[4:]} {
		if _, ok := v.TemporarySecret(id); ok {
			t.Errorf("%q has a secret", id)
		}
	}
}

// A token that is too long for a header is not issued.
func TestLongTokens(t *testing.T) {
	t.Parallel()
	v := NewVault()
	for length, ok := range map[int]bool{2048: true, 3500: false} {
		key, err := v.Issue(policy.User, "111122223333", "", &Session{
			Terms: Terms{Policies: []string{strings.Repeat("x", length)}},
		})
		if ok {
			if err != nil || len(key.Token) > MaxToken {
				t.Errorf("%d: %d characters, %v", length, len(key.Token), err)
			}
			if _, _, err := v.Redeem(key.AccessKeyID, key.Token); err != nil {
				t.Errorf("%d: %v", length, err)
			}
		} else if long, is := errors.AsType[*TokenTooLongError](err); !is || long.Length <= MaxToken ||
			key.Token != "" {
			t.Errorf("%d: %v", length, err)
		}
	}
}

// flip changes one character of s.
func flip(s string, at int) string {
	c := byte('A')
	if s[at] == c {
		c = 'B'
	}
	return s[:at] + string(c) + s[at+1:]
}

// Only tokens that Issue has made can be redeemed; imitations cannot.
func FuzzRedeem(f *testing.F) {
	v := NewVault()
	key, err := v.Issue(policy.User, "111122223333", "", &Session{
		Issuer: "arn:aws:iam::111122223333:user/bob", IssuerID: "AIDA1",
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(key.AccessKeyID, key.Token)
	f.Add(key.AccessKeyID, "")
	f.Add("ASIA", strings.Repeat("A", 100))
	f.Fuzz(func(t *testing.T, keyID, token string) {
		_, _, err := v.Redeem(keyID, token)
		if genuine := keyID == key.AccessKeyID && token == key.Token; genuine != (err == nil) {
			t.Errorf("%q, %q: %v", keyID, token, err)
		}
		if _, ok := v.TemporarySecret(keyID); ok && keyID != key.AccessKeyID {
			t.Logf("an id was guessed: %s", keyID) // one in 2^30
		}
	})
}

func TestCreatedAccountsAreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credentials")
	c, err := LoadCredentials(path, []string{"000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.Create(t.Context(), "111122223333")
	if err != nil || made.Account != "111122223333" || !made.IsRoot() {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := c.Create(t.Context(), "111122223333"); !errors.Is(err, ErrAccountExists) {
		t.Errorf("again: %v", err)
	}
	if _, err := c.Create(t.Context(), "1111"); err == nil {
		t.Error("an invalid number is accepted")
	}
	again, err := LoadCredentials(path, []string{"000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := again.Lookup(made.AccessKeyID); !ok || got.Secret != made.Secret || len(again.Accounts()) != 2 {
		t.Errorf("after a restart: %v, %v", got, again.Accounts())
	}
}
