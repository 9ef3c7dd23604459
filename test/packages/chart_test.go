package packages

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/command"
	"github.com/sluicemq/sluice/test/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }

const chart = "../../deploy/helm/sluice"

// tool returns the path of a program that .ci/run installs.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed; scripts/dev install does that", name)
	}
	return path
}

func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	out, err := try(env, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func try(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// object has the fields of a Kubernetes object that the tests check.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Template struct {
			Spec struct {
				Containers []struct {
					VolumeMounts []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct {
					Name  string
					Claim struct {
						Name string `yaml:"claimName"`
					} `yaml:"persistentVolumeClaim"`
					Secret struct {
						Name string `yaml:"secretName"`
					}
				}
			}
		}
	}
}

// mounts returns the claims and secrets that are mounted in the pods of an object, by path.
func (o object) mounts() map[string]string {
	sources, mounts := make(map[string]string), make(map[string]string)
	for _, v := range o.Spec.Template.Spec.Volumes {
		sources[v.Name] = cmp.Or(v.Claim.Name, v.Secret.Name)
	}
	for _, c := range o.Spec.Template.Spec.Containers {
		for _, m := range c.VolumeMounts {
			mounts[m.MountPath] = sources[m.Name]
		}
	}
	return mounts
}

// render returns the objects of the chart with these values, by kind and name, after a comparison with Kubernetes'
// schemas.
func render(t *testing.T, values ...string) map[string]object {
	t.Helper()
	text := run(t, nil, tool(t, "helm"),
		append([]string{"template", "jobs", chart, "--namespace", "apps"}, values...)...)
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, nil, tool(t, "kubernetes-validate"), "--strict", "--quiet", "--no-warn", file)
	objects := make(map[string]object)
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var o object
		switch err := decoder.Decode(&o); {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			t.Fatal(err)
		}
		objects[o.Kind+" "+o.Metadata.Name] = o
	}
}

// check lets the program check the configuration of a chart. The files that the chart mounts below /etc/sluice are in
// dir.
func check(t *testing.T, config, dir string, env ...string) string {
	t.Helper()
	file := filepath.Join(dir, "sluice.yaml")
	config = strings.ReplaceAll(config, "/etc/sluice", dir)
	config = strings.ReplaceAll(config, "/var/lib/sluice", filepath.Join(dir, "volume"))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, env, program.Build(t), "serve", "--check", "--config", file)
}

func rootKey(t *testing.T, o object) []string {
	t.Helper()
	return []string{
		"SLUICE_ROOT_ACCESS_KEY_ID=" + decode(t, o.Data["access-key-id"]),
		"SLUICE_ROOT_SECRET_ACCESS_KEY=" + decode(t, o.Data["secret-access-key"]),
	}
}

func decode(t *testing.T, text string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 {
		t.Fatalf("%q: %v", text, err)
	}
	return string(b)
}

func TestChartIsClean(t *testing.T) {
	run(t, nil, tool(t, "helm"), "lint", "--strict", chart)
}

// The program accepts the configuration of a single node.
func TestChartOfOneNode(t *testing.T) {
	objects := render(t)
	out := check(t, objects["ConfigMap jobs-sluice"].Data["sluice.yaml"], t.TempDir(),
		rootKey(t, objects["Secret jobs-sluice-root"])...)
	for _, want := range []string{"\ninsecure: true ", "\nlog-format: \"json\" ",
		"\nmetrics-listen: \"0.0.0.0:9464\" "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if _, there := objects["PodDisruptionBudget jobs-sluice"]; there {
		t.Error("the chart has a disruption budget for a single node: its machine could never be drained")
	}
}

// Each node of a cluster accepts the configuration, and the certificate names it.
func TestChartOfACluster(t *testing.T) {
	objects := render(t, "--set", "replicas=3,metrics.enabled=false,podDisruptionBudget=true,antiAffinity=preferred")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cluster"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range objects["Secret jobs-sluice-cluster"].Data {
		if err := os.WriteFile(filepath.Join(dir, "cluster", name), []byte(decode(t, text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range []string{"jobs-sluice-0", "jobs-sluice-1", "jobs-sluice-2"} {
		env := append(rootKey(t, objects["Secret jobs-sluice-root"]), "SLUICE_NODE="+node)
		out := check(t, objects["ConfigMap jobs-sluice"].Data["sluice.yaml"], dir, env...)
		if want := "\"" + node + ".jobs-sluice-nodes.apps.svc:6222\""; !strings.Contains(out, want) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
	if _, there := objects["PodDisruptionBudget jobs-sluice"]; !there {
		t.Error("no budget for disruptions")
	}
}

func TestChartWithTLS(t *testing.T) {
	objects := render(t, "--set", "tls.existingSecret=certificate")
	config := objects["ConfigMap jobs-sluice"].Data["sluice.yaml"]
	if strings.Contains(config, "insecure") || !strings.Contains(config, "tls-cert: /etc/sluice/tls/tls.crt\n") {
		t.Errorf("the configuration is\n%s", config)
	}
}

// Trails deliver to the volume that is mounted for them.
func TestChartWithTrails(t *testing.T) {
	objects := render(t, "--set", "trails.existingClaim=audit,config.public-url=https://sqs.example.com")
	dir := t.TempDir()
	out := check(t,
		strings.ReplaceAll(objects["ConfigMap jobs-sluice"].Data["sluice.yaml"], "/var/lib/sluice-trails", dir), dir,
		rootKey(t, objects["Secret jobs-sluice-root"])...)
	if want := "\ntrail-dir: " + strconv.Quote(dir); !strings.Contains(out, want) {
		t.Errorf("%s is missing in\n%s", want, out)
	}
	if mounts := objects["StatefulSet jobs-sluice"].mounts(); mounts["/var/lib/sluice-trails"] != "audit" {
		t.Errorf("the volumes are mounted at %v", mounts)
	}
}

// Backups go to a bucket, with the keys of a secret, or to the volume that is mounted for them.
func TestChartWithBackups(t *testing.T) {
	for values, want := range map[string]string{
		"backup.to=s3://backups/jobs,backup.keep=30d,backup.existingSecret=keys": "s3://backups/jobs",
		"backup.existingClaim=backups,backup.keep=30d":                           "file:///var/lib/sluice-backups",
	} {
		objects := render(t, "--set", values)
		out := check(t, objects["ConfigMap jobs-sluice"].Data["sluice.yaml"], t.TempDir(),
			rootKey(t, objects["Secret jobs-sluice-root"])...)
		for _, want := range []string{"\nbackup-every: \"1m0s\" ", "\nbackup-keep: \"30d\" "} {
			if !strings.Contains(out, want) {
				t.Errorf("with %s, %q is missing in\n%s", values, want, out)
			}
		}
		if config := objects["ConfigMap jobs-sluice"].Data["sluice.yaml"]; !strings.Contains(config,
			"\nbackup-to: "+want+"\n") {
			t.Errorf("with %s, %s is missing in\n%s", values, want, config)
		}
		claim := objects["StatefulSet jobs-sluice"].mounts()["/var/lib/sluice-backups"]
		if (claim == "backups") != strings.HasPrefix(want, "file:") {
			t.Errorf("with %s the claim %q is mounted", values, claim)
		}
	}
	cluster := render(t, "--set", "backup.to=s3://b/p,replicas=3")
	if config := cluster["ConfigMap jobs-sluice"].Data["sluice.yaml"]; !strings.Contains(config,
		"\nbackup-to: s3://b/p\n") {
		t.Errorf("the nodes of a cluster have no backups:\n%s", config)
	}
	out := run(t, nil, tool(t, "helm"), "template", "jobs", chart, "--set",
		"backup.to=s3://b/p,backup.existingSecret=keys")
	if !strings.Contains(out, "secretRef:\n                name: keys\n") {
		t.Errorf("the keys of the bucket are missing in\n%s", out)
	}
}

// A key service seals the keys, which all nodes of a cluster get from a secret. The secret may also hold unsealed keys,
// in a file of root that the group of the process may read.
func TestChartWithKeyService(t *testing.T) {
	const service = "encryption.keyService=hashivault://jobs,encryption.existingSecret=vault"
	alone := render(t, "--set", service)
	if out := check(t, alone["ConfigMap jobs-sluice"].Data["sluice.yaml"], t.TempDir(),
		rootKey(t, alone["Secret jobs-sluice-root"])...); !strings.Contains(
		out, "\nencryption-key-url: \"hashivault://jobs\" ") {
		t.Errorf("the key service is missing in\n%s", out)
	}
	cluster := render(t, "--set", service+",replicas=3,encryption.existingKeys=sealed")
	if config := cluster["ConfigMap jobs-sluice"].Data["sluice.yaml"]; !strings.Contains(config,
		"\nencryption-key-file: /etc/sluice/keys/encryption.keys\n") {
		t.Errorf("the nodes have no keys:\n%s", config)
	}
	if secret := cluster["StatefulSet jobs-sluice"].mounts()["/etc/sluice/keys"]; secret != "sealed" {
		t.Errorf("the secret %q is mounted", secret)
	}
	clear := render(t, "--set", "replicas=3,encryption.existingKeys=clear")
	config := clear["ConfigMap jobs-sluice"].Data["sluice.yaml"]
	if !strings.Contains(config, "\nencryption-key-file: /etc/sluice/keys/encryption.keys\n") ||
		strings.Contains(config, "encryption-key-url") {
		t.Errorf("without a key service the nodes have these keys:\n%s", config)
	}
	out := run(t, nil, tool(t, "helm"), "template", "jobs", chart, "--set",
		service+",backup.to=s3://b/p,backup.existingSecret=bucket")
	for _, name := range []string{"vault", "bucket"} {
		if !strings.Contains(out, "secretRef:\n                name: "+name+"\n") {
			t.Errorf("the secret %s is missing in\n%s", name, out)
		}
	}
	out = run(t, nil, tool(t, "helm"), "template", "jobs", chart, "--set", "encryption.existingKeys=k")
	if !strings.Contains(out, "secretName: k\n            defaultMode: 0440\n") {
		t.Errorf("others can read the keys in\n%s", out)
	}
}

// The image has the version of the program as its tag, and not a tag such as latest.
func TestChartNamesAnImage(t *testing.T) {
	for values, want := range map[string]string{
		"replicas=1": `image: "sluice:` + appVersion(t) + `"`,
		"image.repository=r.example/s,image.tag=v1.2": `image: "r.example/s:v1.2"`,
	} {
		out := run(t, nil, tool(t, "helm"), "template", "jobs", chart, "--set", values)
		if !strings.Contains(out, want) {
			t.Errorf("with %s, %s is missing in\n%s", values, want, out)
		}
	}
}

// appVersion returns the version of the program that the chart names.
func appVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(chart + "/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var about struct {
		AppVersion string `yaml:"appVersion"`
	}
	if err := yaml.Unmarshal(text, &about); err != nil ||
		!regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(about.AppVersion) {
		t.Fatalf("the chart's appVersion is %q, %v: want a version", about.AppVersion, err)
	}
	return about.AppVersion
}

// The schema of the values has every flag of the server, so that a misspelt one is refused.
func TestChartKnowsTheFlags(t *testing.T) {
	file := chart + "/values.schema.json"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Config struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	serve, _, err := command.Tree().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	known := schema.Properties.Config.Properties
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		if _, there := known[f.Name]; !there &&
			!slices.Contains([]string{"help", "check", "config", "env-file"}, f.Name) {
			t.Errorf("%s: config does not know %s", file, f.Name)
		}
		delete(known, f.Name)
	})
	for name := range known {
		t.Errorf("%s: config has %s, which is no flag of the server", file, name)
	}
}

// Meaningless values are refused, with a reason.
func TestChartRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"replicas=2":                                      "two nodes survive the loss of none",
		"config.trail-dir=/x":                             "config.trail-dir is made by the chart",
		"config.backup-to=s3://b":                         "config.backup-to is made by the chart",
		"backup.to=s3://b/p,backup.existingClaim=c":       "use either to or existingClaim",
		"config.listen=:1":                                "config.listen is made by the chart",
		"config.encryption-key-url=hashivault://x":        "config.encryption-key-url is made by the chart",
		"encryption.keyService=hashivault://x,replicas=3": "all nodes of a cluster need the same keys",
		"antiAffinity=somewhere":                          "want required or preferred",
		"replica=3":                                       "additional properties 'replica' not allowed",
		"replicas=three":                                  "got string, want integer",
		"replicas=0":                                      "minimum: got 0, want 1",
		"image.tagg=1":                                    "additional properties 'tagg' not allowed",
		"image.pullPolicy=never":                          "value must be one of 'Always', 'IfNotPresent', 'Never'",
		"config.log-fromat=json":                          "additional properties 'log-fromat' not allowed",
		"service.port=http":                               "got string, want integer",
		"persistence.sise=1Gi":                            "additional properties 'sise' not allowed",

		"metrics.serviceMonitor.enable=true": "additional properties 'enable' not allowed",
	} {
		out, err := try(nil, tool(t, "helm"), "template", "jobs", chart, "--set", values)
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, %s", values, err, out)
		}
	}
}

// systemd accepts the unit, and finds little that an intruder could do in it.
func TestUnit(t *testing.T) {
	analyze := tool(t, "systemd-analyze")
	unit, err := os.ReadFile("../../deploy/systemd/sluice.service")
	if err != nil {
		t.Fatal(err)
	}
	unit = bytes.Replace(unit, []byte("/usr/bin/sluice"), []byte(program.Build(t)), 1) // which verify requires
	unit = bytes.Replace(unit, []byte("man:sluice(1) "), nil, 1)                       // which is installed with it
	file := filepath.Join(t.TempDir(), "sluice.service")
	if err := os.WriteFile(file, unit, 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := os.ReadFile("../../deploy/systemd/sluice.socket")
	if err != nil {
		t.Fatal(err)
	}
	socket = bytes.Replace(socket, []byte("Documentation=man:sluice-serve(1)\n"), nil, 1) // likewise
	socketFile := filepath.Join(filepath.Dir(file), "sluice.socket")
	if err := os.WriteFile(socketFile, socket, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, nil, analyze, "verify", file, socketFile); out != "" {
		t.Error(out)
	}
	if out, err := try(nil, analyze, "security", "--offline=true", "--threshold=20", file); err != nil {
		t.Errorf("the server has more access than it needs: %v\n%s", err, out)
	}
}

// The program accepts the settings that the packages install.
func TestInstalledSettings(t *testing.T) {
	config, err := os.ReadFile("../../deploy/systemd/sluice.yaml")
	if err != nil {
		t.Fatal(err)
	}
	check(t, string(config), t.TempDir())
	suggested := regexp.MustCompile(`(?m)^# (backup-|encryption-key-url)`).ReplaceAllString(string(config), "$1")
	out := check(t, suggested, t.TempDir())
	for _, want := range []string{
		"\nbackup-to: \"s3://backups/sluice\" ", "\nbackup-keep: \"7d\" ",
		"\nencryption-key-url: \"awskms://alias/sluice?region=eu-central-1\" ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}
