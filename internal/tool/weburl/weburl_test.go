package weburl_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/tool/weburl"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, masked, origin string }{
		{"https://hooks.example.com", "https://hooks.example.com", "https://hooks.example.com"},
		{"https://hooks.example.com/", "https://hooks.example.com/", "https://hooks.example.com/"},
		{"https://hooks.example.com:8443/in/secret?token=x#y", "https://hooks.example.com:8443/in/secret?token=x#y",
			"https://hooks.example.com:8443/****"},
		{"http://ann:pass@word@host?token=x", "http://ann:****@host?token=x", "http://****@host?****"},
		{"http://:p@host/a", "http://:****@host/a", "http://****@host/****"},
		{"http://token@host/a", "http://token@host/a", "http://****@host/****"},
		{"http://host/a:b@c", "http://host/a:b@c", "http://host/****"},
		{"http://", "http://", "http://"},
		{"://a:b@", "://a:****@", "://****@"},
		{"ann@example.com", "ann@example.com", "ann@example.com"},
		{"arn:aws:sqs:us-east-1:000000000000:q", "arn:aws:sqs:us-east-1:000000000000:q",
			"arn:aws:sqs:us-east-1:000000000000:q"},
		{"", "", ""},
	} {
		if got := weburl.Masked(c.text); got != c.masked {
			t.Errorf("%s is masked as %s", c.text, got)
		}
		if got := weburl.Origin(c.text); got != c.origin {
			t.Errorf("%s is shown as %s", c.text, got)
		}
	}
}
