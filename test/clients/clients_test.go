package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
	"github.com/sluicemq/sluice/test/program"
)

const root = "../.."

func TestScenarios(t *testing.T) {
	run(t, "test/clients/python", python("scenario.py"), nil)
	run(t, "test/clients/node", node("npm", "test"), nil)
	run(t, "test/clients/node-v2", node("npm", "test"), nil)
	run(t, "test/clients/java", maven, nil)
	run(t, "test/clients/java-v1", maven, nil)
	run(t, "test/clients/celery", virtualEnvironment(".venv", "scenario.py"), nil)
	run(t, "test/clients/go-v1", golang("test", "go.mod"), nil)
	run(t, "test/clients/gocloud", golang("test", "go.mod"), nil)
	run(t, "test/clients/spring", maven, nil)
	run(t, "test/clients/camel", maven, nil)
	run(t, "test/clients/rust", rust, nil)
}

// SDKs from before November 2023 speak the Query protocol.
func TestScenariosInQuery(t *testing.T) {
	run(t, "test/clients/python", virtualEnvironment(".venv-query", "scenario.py"), nil)
	run(t, "test/clients/go-v1", golang("test", "query.mod"), nil)
	run(t, "test/clients/php", interpreted("php", "-r", "require 'AsyncAws/Sqs/autoload.php';", "scenario.php"), nil)
	run(t, "test/clients/ruby", interpreted("ruby", "-e", "require 'aws-sdk-v1'", "scenario.rb"), nil)
	run(t, "test/clients/cli", commandLine, nil)
}

func TestExamples(t *testing.T) {
	prints := func(text string) func(*testing.T, string) {
		return func(t *testing.T, printed string) {
			if !strings.Contains(printed, text+"\n") { // Maven colors output for terminals
				t.Errorf("it prints %q instead of %s", printed, text)
			}
		}
	}
	hello := prints("hello")
	run(t, "examples/go", golang("run", "go.mod"), hello)
	run(t, "examples/buffered", golang("run", "go.mod"), prints("100 jobs done"))
	run(t, "examples/webhook", golang("run", "go.mod"), hello)
	run(t, "examples/python", python("jobs.py"), hello)
	run(t, "examples/javascript", node("node", "jobs.mjs"), hello)
	run(t, "examples/java", maven, hello)
	greeting := prints("hello, world")
	run(t, "examples/celery", virtualEnvironment(".venv", "main.py"), greeting)
	run(t, "examples/nestjs", node("npm", "start"), greeting)
	run(t, "examples/spring", maven, greeting)
}

// run runs a program in its directory of the project, with its own server, and passes the output to check.
func run(t *testing.T, dir string, commandIn func(t *testing.T, dir string) []string,
	check func(t *testing.T, printed string)) {
	t.Run(dir, func(t *testing.T) {
		program.Long(t)
		t.Parallel()
		dir := filepath.Join(root, dir)
		command := commandIn(t, dir)
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir, cmd.Env = dir, environment(start(t))
		var errors strings.Builder
		cmd.Stderr = &errors
		printed, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, printed, errors.String())
		}
		if check != nil {
			check(t, string(printed))
		}
	})
}

// start starts a server and returns it.
func start(t *testing.T) *server.Server {
	t.Helper()
	config := server.Default()
	config.InMemory, config.Listen = true, "127.0.0.1:0"
	config.EgressAllow = []string{"127.0.0.1"}
	s, _ := servertest.Start(t, config)
	return s
}

// environment returns the variables with which any AWS program uses the server.
func environment(s *server.Server) []string {
	key := s.Root()
	return append(os.Environ(),
		"AWS_ENDPOINT_URL="+s.Endpoint(),
		"AWS_ACCESS_KEY_ID="+key.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+key.Secret, "AWS_SESSION_TOKEN=",
		"AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
	)
}

// golang runs or tests the directory with the go tool; its modules must be present.
func golang(verb, modules string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		t.Helper()
		tool := installed(t, "go")
		list := exec.Command(tool, "list", "-deps", "-test", "-modfile="+modules, ".")
		list.Dir, list.Env = dir, append(os.Environ(), "GOPROXY=off")
		if out, err := list.CombinedOutput(); err != nil {
			t.Skipf("run go mod download in %s first: %s", dir, out)
		}
		return []string{tool, verb, "-modfile=" + modules, "."}
	}
}

// virtualEnvironment runs a file with the directory's virtual environment.
func virtualEnvironment(name, file string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		t.Helper()
		interpreter, err := filepath.Abs(filepath.Join(dir, name, "bin", "python"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(interpreter); err != nil {
			t.Skipf("run scripts/dev install first: %s is missing in %s", name, dir)
		}
		return []string{interpreter, file}
	}
}

// python runs a file with the directory's virtual environment or else with the installed Python, which must have boto3.
func python(file string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		t.Helper()
		interpreter, err := filepath.Abs(filepath.Join(dir, ".venv", "bin", "python"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(interpreter); err != nil {
			interpreter = installed(t, "python3")
		}
		if err := exec.Command(interpreter, "-c", "import boto3").Run(); err != nil {
			t.Skip("python3 has no boto3")
		}
		return []string{interpreter, file}
	}
}

// node runs a command that needs the packages of the directory.
func node(command ...string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		t.Helper()
		installed(t, "node")
		installed(t, command[0])
		if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
			t.Skipf("run npm ci in %s first", dir)
		}
		return command
	}
}

// maven compiles and runs the program of the directory. It downloads nothing: run the same command once without -o
// first.
func maven(t *testing.T, dir string) []string {
	t.Helper()
	command := []string{installed(t, "mvn"), "-q", "-o", "compile", "exec:java"}
	prepared := exec.Command(command[0], append(command[1:], "-Dexec.skip=true")...)
	prepared.Dir = dir
	if err := prepared.Run(); err != nil {
		t.Skipf("run mvn -q compile exec:java -Dexec.skip=true in %s first", dir)
	}
	return command
}

// interpreted runs a file with the installed interpreter, which must have a library.
func interpreted(interpreter, flag, use, file string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		t.Helper()
		path := installed(t, interpreter)
		if out, err := exec.Command(path, flag, use).CombinedOutput(); err != nil {
			t.Skipf("run scripts/dev install first: %s %s: %s", interpreter, use, out)
		}
		return []string{path, file}
	}
}

// commandLine runs a script with version 2 of the AWS CLI, wherever it is in the PATH.
func commandLine(t *testing.T, _ string) []string {
	t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, "aws")
		if out, err := exec.Command(path, "--version").Output(); err == nil &&
			strings.HasPrefix(string(out), "aws-cli/2.") {
			return []string{installed(t, "env"), "AWS=" + path, "bash", "scenario.sh"}
		}
	}
	t.Skip("version 2 of the AWS CLI is not installed")
	return nil
}

// rust runs the program of the directory, which must already be built, because that takes minutes.
func rust(t *testing.T, dir string) []string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "target", "debug", "scenario")); err != nil {
		t.Skipf("run cargo build in %s first, which takes minutes", dir)
	}
	return []string{installed(t, "cargo"), "run", "--quiet", "--offline"}
}

// installed returns the path of a program.
func installed(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}
