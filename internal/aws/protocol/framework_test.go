package protocol_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// A service on AWS's framework has that framework's errors for Query requests that do not reach an operation.
func TestFrameworkRefusals(t *testing.T) {
	t.Parallel()
	s := protocol.NewService(protocol.Service{
		Name: "monitoring", Target: "Granite", Versions: []string{"2010-08-01"}, Namespace: "http://monitoring/%s/",
		Framework: true,
	})
	protocol.Register(s, "Measure", handle[measureInput, measureOutput])
	protocol.Register(s, "SendMessage", handle[sendInput, sendOutput])
	const (
		service = "http://monitoring/2010-08-01/"
		none    = "http://webservices.amazon.com/AWSFault/2005-15-09"
	)
	missing := func(name, version string) string {
		return "<Code>InvalidAction</Code><Message>Could not find operation " + name + " for version " + version +
			"</Message>"
	}
	for _, test := range []struct{ body, namespace, want string }{
		{"Action=Foo&Version=2010-08-01", none, missing("Foo", "2010-08-01")},
		{"Action=Measure&Version=2000-01-01", none, missing("Measure", "2000-01-01")},
		{"Action=Foo", none, missing("Foo", "2010-08-01")},
		{"Action=Measure&Version=2010-08-01&Value=abc", service, "<Code>MalformedInput</Code></Error>"},
		{"Action=SendMessage&Version=2010-08-01&DelaySeconds=30.0", service, "<Code>MalformedInput</Code></Error>"},
		{"Action=SendMessage&Version=2010-08-01&Urgent=maybe", service, "<Code>MalformedInput</Code></Error>"},
		{"Action=SendMessage&Version=2010-08-01&Note.BinaryValue=A", service, "<Code>MalformedInput</Code></Error>"},
		{"Action=Measure&Version=2010-08-01&At=foo", service,
			"<Code>MalformedInput</Code><Message>timestamp must follow ISO8601</Message>"},
	} {
		req, _, err := decode(s, form(test.body), test.body)
		if err == nil {
			t.Errorf("%s is accepted", test.body)
			continue
		}
		w := httptest.NewRecorder()
		if err := protocol.WriteError(w, s, req, "id", err); err != nil {
			t.Fatal(err)
		}
		got := w.Body.String()
		if w.Code != 400 || !strings.Contains(got, `xmlns="`+test.namespace+`"`) || !strings.Contains(got, test.want) {
			t.Errorf("%s is refused with %d %s, want %s in %s", test.body, w.Code, got, test.want, test.namespace)
		}
	}
}
