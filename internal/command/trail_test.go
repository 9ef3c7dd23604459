package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
)

func TestTrail(t *testing.T) {
	s := serve(t, "--in-memory")
	for name, value := range s.exports {
		t.Setenv(name, value)
	}
	for _, args := range [][]string{{"queue", "create", "jobs"}, {"queue", "rm", "jobs"}, {"user", "create", "bob"}} {
		if _, _, err := run(t, args...); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := run(t, "account", "delete", "999999999999"); err == nil {
		t.Fatal("a missing account was deleted")
	}
	eventually.True(t, "the event of the refusal", func() bool {
		out, _, err := run(t, "trail", "--refused")
		return err == nil && strings.Count(out, "\n") == 2
	})
	for args, want := range map[string]string{
		"--service sqs":                       "DeleteQueue CreateQueue",
		"--changes --limit 2":                 "DeleteAccount CreateAccessKey",
		"--resource jobs --event DeleteQueue": "DeleteQueue",
		"--user root --service iam":           "CreateAccessKey CreateUser",
		"--user bob":                          "",
		"--since 1h --event CreateQueue":      "CreateQueue",
		"--until 1h":                          "",
		"--access-key-id " + s.exports["AWS_ACCESS_KEY_ID"] + " --refused": "DeleteAccount",
	} {
		out, _, err := run(t, append([]string{"trail", "--json"}, strings.Fields(args)...)...)
		if err != nil {
			t.Fatal(err)
		}
		var all struct{ Records []struct{ EventName string } }
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range all.Records {
			names = append(names, e.EventName)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	if _, _, err := run(t, "trail", "--since", "yesterday"); err == nil ||
		!strings.Contains(err.Error(), "want a time such as") {
		t.Error(err)
	}
}
