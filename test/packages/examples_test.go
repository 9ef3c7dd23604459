//go:build unix

package packages

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
	"github.com/sluicemq/sluice/test/program"
)

// The modules with the schemas for the examples; scripts/dev install gets them.
const (
	composeSchema = "github.com/compose-spec/compose-go/v2@v2.16.2"
	kedaSchema    = "github.com/kedacore/keda/v2@v2.21.0"
)

// moduleFile reads a file of a module that was downloaded.
func moduleFile(t *testing.T, module, file string) []byte {
	t.Helper()
	cmd := exec.Command(tool(t, "go"), "mod", "download", "-json", module)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOPROXY=off")
	out, err := cmd.Output()
	var found struct{ Dir string }
	if err != nil || json.Unmarshal(out, &found) != nil || found.Dir == "" {
		t.Skipf("%s is missing; scripts/dev install gets it", module)
	}
	return contents(t, filepath.Join(found.Dir, file))
}

// validate compares a value with a JSON schema.
func validate(t *testing.T, schema, value any) {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for i, v := range []any{schema, value} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, []string{"schema.json", "value.json"}[i])
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	python := tool(t, "python3")
	if exec.Command(python, "-c", "import jsonschema").Run() != nil {
		t.Skip("python3 has no jsonschema; scripts/dev install does that")
	}
	run(t, nil, python,
		append([]string{"-c",
			"import json, jsonschema, sys; jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))"}, files...)...)
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// documents reads the documents of a YAML file.
func documents[T any](t *testing.T, text []byte) (all []T) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var d T
		switch err := decoder.Decode(&d); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, d)
	}
}

// composition has the fields of a Compose file that the tests check.
type composition struct {
	Services map[string]struct {
		Command     []string
		Environment map[string]string
	}
}

// Compose accepts the files.
func TestCompose(t *testing.T) {
	var schema any
	if err := json.Unmarshal(moduleFile(t, composeSchema, "schema/compose-spec.json"), &schema); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../../compose.yaml", "../../examples/compose/compose.yaml"} {
		validate(t, schema, documents[any](t, contents(t, file))[0])
	}
}

// Without containers: the server starts with the file's settings and queues, and the worker gets the message and stops
// gracefully.
func TestComposeExample(t *testing.T) {
	const dir = "../../examples/compose"
	python := tool(t, "python3")
	if exec.Command(python, "-c", "import boto3").Run() != nil {
		t.Skip("python3 has no boto3; scripts/dev install does that")
	}
	services := documents[composition](t, contents(t, filepath.Join(dir, "compose.yaml")))[0].Services
	addresses, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, backups := "http://"+addresses[0], filepath.ToSlash(t.TempDir())
	variables := func(service string) []string {
		env := slices.DeleteFunc(os.Environ(),
			func(v string) bool { return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "SLUICE_") })
		env = append(env, "AWS_EC2_METADATA_DISABLED=true")
		for name, value := range services[service].Environment {
			env = append(env,
				name+"="+strings.NewReplacer("http://sluice:9324", endpoint, "///backups", "//"+backups).Replace(value))
		}
		return env
	}

	command := slices.Clone(services["sluice"].Command)
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], "/queues.yaml", filepath.Join(dir, "queues.yaml"))
	}
	start(t, program.Build(t), command,
		append(variables("sluice"), "SLUICE_DATA="+t.TempDir(), "SLUICE_LISTEN="+addresses[0]))
	eventually.True(t, "ready", func() bool {
		answer, err := http.Get(endpoint + "/readyz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	run(t, append(variables("sluice"), "AWS_ENDPOINT_URL_SQS="+endpoint), program.Build(t), "queue", "send", "orders",
		"hello")
	printed := start(t, python, []string{"-u", filepath.Join(dir, "worker.py")}, variables("worker"))
	if line, err := bufio.NewReader(printed).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("the worker prints %q, %v", line, err)
	}
	eventually.True(t, "backed up", func() bool {
		moments, err := filepath.Glob(filepath.Join(backups, "sluice", "moments", "*.json"))
		return err == nil && len(moments) > 0
	})
}

// start starts a program, which must stop gracefully when the test ends it, and returns its output.
func start(t *testing.T, name string, args, env []string) io.Reader {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = env
	var said bytes.Buffer
	cmd.Stderr = &said
	printed, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("%s ended with %v\n%s", name, err, said.String())
		}
	})
	return printed
}

// The users in the file can do what the worker and KEDA need, and no more.
func TestKubernetesExample(t *testing.T) {
	c := server.Default()
	c.InMemory, c.Listen = true, "127.0.0.1:0"
	s, _ := servertest.Start(t, c)
	keys := filepath.Join(t.TempDir(), "keys")
	run(t,
		[]string{"AWS_ENDPOINT_URL=" + s.Endpoint(), "AWS_ACCESS_KEY_ID=" + s.Root().AccessKeyID,
			"AWS_SECRET_ACCESS_KEY=" + s.Root().Secret,
			"AWS_SESSION_TOKEN=", "AWS_REGION=us-east-1"}, program.Build(t), "apply",
		"../../examples/kubernetes/queues.yaml", "--write-keys", keys)
	client := func(profile string) *sqs.Client {
		credentials, err := config.LoadSharedConfigProfile(t.Context(), profile,
			func(o *config.LoadSharedConfigOptions) {
				o.CredentialsFiles, o.ConfigFiles = []string{keys}, []string{}
			})
		if err != nil {
			t.Fatal(err)
		}
		return sqs.New(sqs.Options{Region: "us-east-1", BaseEndpoint: aws.String(s.Endpoint()),
			Credentials: aws.CredentialsProviderFunc(
				func(context.Context) (aws.Credentials, error) { return credentials.Credentials, nil })})
	}
	worker, keda := client("worker"), client("keda")
	q, err := worker.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := worker.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl}); err != nil {
		t.Error(err)
	}
	if _, err := worker.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: q.QueueUrl, MessageBody: aws.String("m"),
	}); err == nil {
		t.Error("the worker may send")
	}
	// The request of KEDA's scaler, with the URL of the file.
	url := scalers(t)[1].Spec.Triggers[0].Metadata["queueURL"]
	if _, err := keda.GetQueueAttributes(t.Context(),
		&sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{
			types.QueueAttributeNameApproximateNumberOfMessages,
			types.QueueAttributeNameApproximateNumberOfMessagesNotVisible}}); err != nil {
		t.Error(err)
	}
	run(t, nil, tool(t, "kubernetes-validate"), "--strict", "--quiet", "--no-warn",
		"../../examples/kubernetes/worker.yaml")
}

// scaler has the fields of a KEDA object that the tests check.
type scaler struct {
	Kind string
	Spec struct {
		Target   struct{ Name string } `yaml:"scaleTargetRef"`
		Triggers []struct{ Metadata map[string]string }
	}
}

const scalerFile = "../../examples/keda/scaler.yaml"

func scalers(t *testing.T) []scaler { t.Helper(); return documents[scaler](t, contents(t, scalerFile)) }

// KEDA accepts the file: it knows the objects, and the trigger its settings.
func TestKEDAExample(t *testing.T) {
	type definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					Schema any `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	objects := documents[any](t, contents(t, scalerFile))
	for i, file := range []string{"triggerauthentications", "scaledobjects"} {
		text := moduleFile(t, kedaSchema, "config/crd/bases/keda.sh_"+file+".yaml")
		validate(t, documents[definition](t, text)[0].Spec.Versions[0].Schema.Schema, objects[i])
	}
	known := string(moduleFile(t, kedaSchema, "pkg/scalers/aws_sqs_queue_scaler.go"))
	for name := range scalers(t)[1].Spec.Triggers[0].Metadata {
		if !strings.Contains(known, "name="+name+",") {
			t.Errorf("KEDA's trigger does not know %s", name)
		}
	}
	deployment := documents[object](t, contents(t, "../../examples/kubernetes/worker.yaml"))[0]
	if target := scalers(t)[1].Spec.Target.Name; target != deployment.Metadata.Name {
		t.Errorf("%s is scaled, the worker is %s", target, deployment.Metadata.Name)
	}
}

// Terraform's own parser accepts the file. internal/api/sqs tests the provider's requests to the server.
func TestTerraformExample(t *testing.T) {
	run(t, nil, tool(t, "hclfmt"), "-check", "../../examples/terraform/main.tf")
}
