package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A configuration file's settings hold unless the environment or the command line overrides them.
func TestConfigFile(t *testing.T) {
	file := writeFile(t, "sluice.yaml", `# of this server
region: eu-west-1
log-level: warn
account: ["123456789012", 000000000001]
max-queues: 7
in-memory: true
data:
`)
	env := writeFile(t, "env", "SLUICE_LOG_LEVEL=error\nSLUICE_REGION=eu-west-9\n")
	t.Setenv("SLUICE_REGION", "eu-west-2")
	t.Setenv("SLUICE_CONFIG", file)
	out, _, err := run(t, "serve", "--check", "--env-file", env, "--max-queues=8")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`region: "eu-west-2"  # SLUICE_REGION`,
		`log-level: "error"  # SLUICE_LOG_LEVEL`,
		`account: ["123456789012", "000000000001"]  # account in line 4 of ` + file,
		`max-queues: 8  # the command line`,
		`in-memory: true  # in-memory in line 6 of ` + file,
		`# data: "./sluice-data"`,
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	s := serve(t, "--account=123456789012")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if got := s.exports["AWS_REGION"]; got != "eu-west-2" {
		t.Errorf("region %q", got)
	}
}

// All mistakes are named at once, wherever they are.
func TestCheckNamesAllMistakes(t *testing.T) {
	file := writeFile(t, "sluice.yaml",
		"log-fromat: json\nregion: Europe\nmax-queues: many\nlisten: 0.0.0.0:9324\naccount: [1, 2]\nnode: a\n")
	t.Setenv("SLUICE_LOG_LVEL", "warn")
	env := writeFile(t, "env", "what\nSLUICE_METRICS_LISTEN=9464\n")
	_, _, err := run(t, "serve", "--check", "--config", file, "--env-file", env, "--write-keys", "keys")
	if command.Status(err) != 2 {
		t.Fatalf("status %d, %v", command.Status(err), err)
	}
	for _, want := range []string{
		"the environment has SLUICE_LOG_LVEL, and there is no such flag; did you mean SLUICE_LOG_LEVEL?\n",
		"--config " + file + ": line 1: there is no flag --log-fromat; did you mean log-format?\n",
		"--env-file " + env + ": line 1: want a line such as SLUICE_LOG_LEVEL=warn\n",
		"max-queues in line 3 of " + file + " \"many\": want a whole number\n",
		"--write-keys has no effect without --apply\n",
		"--listen 0.0.0.0:9324 can be reached from other machines",
		"--metrics-listen \"9464\": want host:port",
		"--region \"Europe\": want a name such as us-east-1\n",
		"--account \"1\": want 12 digits\n--account \"2\": want 12 digits\n",
		"--cluster: at least one node is needed",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	certificate, declared := writeFile(t, "server.crt", "no certificate"), writeFile(t, "queues.yaml", "queue: {}\n")
	_, _, err = run(t, "serve", "--check", "--tls-cert", certificate, "--tls-key", certificate, "--apply", declared,
		"--region", "Europe")
	for _, want := range []string{"--region", "--tls-cert and --tls-key: ", declared + ":1:1: the file has no queue"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
}

// The output of --check is a configuration file that gives the next server the same settings.
func TestCheckPrintsAConfigFile(t *testing.T) {
	first, _, err := run(t, "serve", "--check", "--in-memory", "--account=123456789012,000000000001",
		"--max-connections=9", "--public-url=https://queues.example/a")
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := run(t, "serve", "--check", "--config", writeFile(t, "sluice.yaml", first))
	if err != nil {
		t.Fatal(err)
	}
	if withoutReasons(first) != withoutReasons(second) {
		t.Errorf("%s\nthen\n%s", first, second)
	}
}

func withoutReasons(file string) string {
	var b strings.Builder
	for line := range strings.Lines(file) {
		value, _, _ := strings.Cut(line, "  # ")
		b.WriteString(strings.TrimSpace(value) + "\n")
	}
	return b.String()
}

func TestCheckHidesSecrets(t *testing.T) {
	file := writeFile(t, "sluice.yaml",
		"in-memory: true\nroot-access-key-id: AKIAEXAMPLE000000000\nroot-secret-access-key: a-secret-that-has-forty-characters-in-all\n")
	out, stderr, err := run(t, "serve", "--check", "--config", file)
	if err != nil || strings.Contains(out+stderr, "forty") ||
		!strings.Contains(out, "# root-secret-access-key: set by root-secret-access-key in line 3 of") {
		t.Errorf("%v\n%s%s", err, out, stderr)
	}
}

func TestWrongConfigFile(t *testing.T) {
	for text, want := range map[string]string{
		"log-leve: warn":                        "line 1: there is no flag --log-leve; did you mean log-level?",
		"in-memory: true\nlog-level: loud":      `log-level in line 2 of `,
		"log-level: [warn]":                     "line 1: log-level: want one value, not a list",
		"log-level: {a: b}":                     "line 1: log-level: want a value",
		"account: [a, [b]]":                     "line 1: account: want a list of values",
		"- log-level":                           "line 1: want lines such as log-level: warn",
		"log-level: warn\nlog-level: info":      "log-level",
		"region: \"eu":                          "line 1: found unexpected end of stream",
		"config: other.yaml":                    "line 1: config belongs on the command line, or in the environment",
		"check: true":                           "line 1: check belongs on the command line",
		"public-url: 'https://q.example/a#b'":   "--public-url",
		"listen: 0.0.0.0:1":                     "--listen 0.0.0.0:1 can be reached from other machines",
		"in-memory: true\ndata: x":              "--data has no effect with --in-memory (--data is set by data in line 2 of ",
		"tls-cert: none.crt\ntls-key: none.key": "--tls-cert and --tls-key: ",
	} {
		_, _, err := run(t, "serve", "--check", "--config", writeFile(t, "sluice.yaml", text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, _, err := run(t, "serve", "--check", "--config", "no such file"); err == nil ||
		!strings.Contains(err.Error(), "--config: open no such file") {
		t.Error(err)
	}
}

// The options of an identity provider, with names that contain commas, and a secret that others can read.
func TestProvidersOptionsAreChecked(t *testing.T) {
	lines := "in-memory: true\noidc-issuer: https://login.example.com\noidc-client-id: sluice\noidc-role:\n" +
		"  - admins=arn:aws:iam::000000000000:role/admin\n  - staff=arn:aws:iam::000000000000:role/staff\n"
	out, _, err := run(t, "serve", "--check", "--config",
		writeFile(t, "sluice.yaml", lines+"oidc-client-secret-file: "+writeFile(t, "secret", "s3cret\n")+"\n"))
	if err != nil || !strings.Contains(out, `["admins=arn:aws:iam::000000000000:role/admin", "staff=`) ||
		strings.Contains(out, "s3cret") {
		t.Errorf("%v\n%s", err, out)
	}
	for flag, want := range map[string]string{
		"--oidc-client-secret-file=no-such-file":                       "--oidc-client-secret-file: open no-such-file",
		"--oidc-client-secret-file=" + writeFile(t, "empty", "\n"):     "want a secret of 1 to",
		"--oidc-role=admins=admin":                                     "want GROUP=ARN",
		"--oidc-issuer=http://login.example.com":                       "want https://",
		"--console=false":                                              "which --console=false turns off",
		`--oidc-role="cn=a,ou=b=arn:aws:iam::000000000000:role/admin"`: "",
	} {
		_, _, err := run(t, "serve", "--check", "--config", writeFile(t, "sluice.yaml", lines), flag)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", flag, err, want)
		}
	}
	if _, _, err := run(t, "serve", "--check", "--in-memory", "--oidc-client-id=sluice"); err == nil ||
		!strings.Contains(err.Error(), "without --oidc-issuer") {
		t.Errorf("without a provider: %v", err)
	}
}
