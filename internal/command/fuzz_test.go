package command

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// A flag accepts its printed value, and then has the same value.
func FuzzFlagValues(f *testing.F) {
	for _, text := range []string{"1GiB", "512 MiB", "0", "-1", "30s", "1m30s", "1.5s", "900", "7d", "1d12h",
		"9223372036854775807TiB", "", "text"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var bytes int64
		var whole *int32
		var n int
		var word string
		var long time.Duration
		for name, v := range map[string]pflag.Value{
			"bytes": byteCount{&bytes}, "seconds": seconds{&whole}, "long": longDuration{&long},
			"positive": positive{&n}, "choice": choice{&word, []string{"text", "json"}},
		} {
			if err := v.Set(text); err != nil {
				if !strings.HasPrefix(err.Error(), "want ") {
					t.Errorf("%s %q: %v, which does not name the expected values", name, text, err)
				}
				continue
			}
			shown := v.String()
			if err := v.Set(shown); err != nil || v.String() != shown {
				t.Errorf("%s %q: shown as %q, which is parsed as %q, %v", name, text, shown, v.String(), err)
			}
		}
		if bytes < 0 || n < 0 || whole != nil && *whole < 0 {
			t.Errorf("%q: negative", text)
		}
	})
}

func FuzzEndpoint(f *testing.F) {
	for _, text := range []string{"http://127.0.0.1:9324/", "127.0.0.1:9324", "localhost:1", "[::1]:9324",
		"sluice.example:9324", "https://a/b/", "http://a?b", "http://"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseEndpoint(text)
		if err != nil {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.HasSuffix(got, "/") {
			t.Errorf("%q is parsed as %q", text, got)
		}
		if again, err := parseEndpoint(got); err != nil || again != got {
			t.Errorf("%q is parsed as %q, and that as %q, %v", text, got, again, err)
		}
	})
}

func FuzzProfiles(f *testing.F) {
	f.Add("[a]\naws_access_key_id = k\naws_secret_access_key=s\n")
	f.Add("[\n= =\n[]x]")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "credentials")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		profiles, err := readProfiles(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, k := range profiles {
			if strings.ContainsAny(name+k.id+k.secret+k.token, "\n") {
				t.Errorf("%q: the profile %q has more than one line", text, name)
			}
		}
	})
}

func FuzzMessageAttributes(f *testing.F) {
	f.Add("tenant=acme")
	f.Add("retries:Number=3")
	f.Add("key:Binary=AAEC")
	f.Add("=:")
	f.Fuzz(func(t *testing.T, text string) {
		attributes, err := messageAttributes("--attribute", []string{text})
		if err != nil {
			return
		}
		for name, v := range attributes {
			if len(attributes) != 1 || !strings.HasPrefix(text, name) ||
				v.DataType == "" && !strings.Contains(text, ":=") || v.StringValue != "" && v.BinaryValue != nil {
				t.Errorf("%q is parsed as %q: %+v", text, name, v)
			}
		}
	})
}
