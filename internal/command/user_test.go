package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// as sets the keys that a command has printed in the environment.
func as(t *testing.T, exports map[string]string, printed string) {
	t.Helper()
	for name, value := range exports {
		t.Setenv(name, value)
	}
	for line := range strings.Lines(printed) {
		if m := export.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			t.Setenv(m[1], m[2])
		}
	}
}

func TestUsersByCommand(t *testing.T) {
	s := serve(t, "--in-memory")
	as(t, s.exports, "")
	must := func(args ...string) string {
		t.Helper()
		out, _, err := run(t, args...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out
	}
	file := filepath.Join(t.TempDir(), "policy.json")
	const document = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:List*","Resource":"*"}}`
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := must("user", "create", "bob", "--policy", file, "--managed", "AmazonSQSReadOnlyAccess")
	if strings.Count(keys, "export ") != 2 {
		t.Errorf("printed %q", keys)
	}
	list := must("user", "list")
	if !strings.Contains(list, "bob") || !strings.Contains(list, "(active)") {
		t.Errorf("the list is %q", list)
	}
	if _, _, err := run(t, "user", "create", "bob"); err == nil ||
		!strings.Contains(err.Error(), "EntityAlreadyExists") {
		t.Errorf("a second bob: %v", err)
	}
	if _, _, err := run(t, "user", "create", "eve", "--managed", "Nothing"); err == nil ||
		!strings.Contains(err.Error(), "NoSuchEntity") {
		t.Errorf("a policy that does not exist: %v", err)
	}
	if list := must("user", "list"); strings.Contains(list, "eve") {
		t.Errorf("a part of the user is left: %q", list)
	}

	as(t, nil, keys)
	if again := must("user", "list"); again != list {
		t.Errorf("bob sees %q", again)
	}
	if _, _, err := run(t, "user", "delete", "bob"); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("bob deletes himself: %v", err)
	}
	if _, _, err := run(t, "account", "list"); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("bob lists accounts: %v", err)
	}

	as(t, s.exports, "")
	must("user", "delete", "bob")
	if list := must("user", "list"); strings.Contains(list, "bob") {
		t.Errorf("at the end: %q", list)
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, _, err := run(t, "user", "list"); err == nil || !strings.Contains(err.Error(), "there is no access key") {
		t.Errorf("without keys: %v", err)
	}
}

// A created account exists after a restart, with the same root.
func TestAccountsByCommand(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data)
	as(t, s.exports, "")
	keys, _, err := run(t, "account", "create", "111122223333")
	if err != nil {
		t.Fatal(err)
	}
	drawn, _, err := run(t, "account", "create")
	if err != nil || !strings.HasPrefix(drawn, "# account ") {
		t.Fatalf("%q, %v", drawn, err)
	}
	for args, want := range map[string]string{"111122223333": "AccountAlreadyExists", "1111": "12 digits"} {
		if _, _, err := run(t, "account", "create", args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = serve(t, "--data", data)
	as(t, s.exports, "")
	list, _, err := run(t, "account", "list")
	if err != nil || strings.Count(list, "\n") != 4 || !strings.Contains(list, "111122223333") {
		t.Errorf("%q, %v", list, err)
	}
	as(t, nil, keys)
	made, _, err := run(t, "user", "create", "bob")
	if err != nil || !strings.Contains(made, "export AWS_SECRET_ACCESS_KEY=") {
		t.Errorf("the new root: %q, %v", made, err)
	}
	if _, _, err := run(t, "account", "list"); err == nil {
		t.Error("the root of another account lists accounts")
	}
}
