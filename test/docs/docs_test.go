//go:build unix

package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/test/program"
)

// pages are all pages with examples, with the number of blocks of each that are not run. Such a block may be wrong: let
// the numbers fall.
var pages = map[string]int{
	"README.md":                 1,
	"docs/README.md":            0,
	"docs/access.md":            0,
	"docs/audit.md":             1,
	"docs/buffered-client.md":   0,
	"docs/cli.md":               0,
	"docs/clients.md":           1,
	"docs/cluster-reference.md": 0,
	"docs/cluster.md":           5,
	"docs/compatibility.md":     0,
	"docs/console.md":           3,
	"docs/declared.md":          0,
	"docs/encryption.md":        2,
	"docs/iam.md":               0,
	"docs/inspect.md":           0,
	"docs/install.md":           5,
	"docs/migration.md":         3,
	"docs/monitoring.md":        0,
	"docs/operations.md":        1,
	"docs/performance.md":       3,
	"docs/scaling.md":           0,
	"docs/server-reference.md":  0,
	"docs/sizing.md":            0,
	"docs/sns.md":               3,
	"docs/tls.md":               0,
	"docs/torture.md":           2,
	"docs/upgrade.md":           0,
}

// clone clones the source, which the test already has.
const clone = "git clone https://github.com/sluicemq/sluice && cd sluice"

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }

func TestExamplesRun(t *testing.T) {
	program.Long(t)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("bash is not installed: %v", err)
	}
	bin := filepath.Dir(program.Build(t))
	for page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			runPage(t, bin, load(t, page))
		})
	}
}

// runPage runs the blocks of a page, from top to bottom.
func runPage(t *testing.T, bin string, blocks []*block) {
	ownServer := false // a block starts it
	runnable := false
	for _, b := range blocks {
		ownServer = ownServer || b.server
		runnable = runnable || b.runnable()
		for _, program := range b.needs() {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s takes %s, which is not installed", b, program)
			}
		}
	}
	if !runnable {
		return
	}
	dir := t.TempDir()
	env := environment(bin, dir)
	sh, s := newShell(t, dir, env), newServer(t, dir, env)
	begin := func() {
		s.start(t)
		if _, err := sh.run(s.exports(t), 0); err != nil {
			t.Fatal(err)
		}
	}
	own := strings.NewReplacer("127.0.0.1:9324", s.address, clone, "cd "+source(""))
	if !ownServer {
		begin()
	}
	for _, b := range blocks {
		switch {
		case !b.runnable():
			continue
		case b.server:
			s.stop(t)
			s.script = own.Replace(b.text)
			begin()
			continue
		case b.serverStopped:
			s.stop(t)
		}
		runBlock(t, sh, b, own)
		if b.serverStopped {
			begin()
		}
	}
}

// runnable reports whether a block has commands to run.
func (b *block) runnable() bool {
	return b.notRun == "" && (b.language == "sh" || b.language == "console")
}

// runBlock runs the commands of one block.
func runBlock(t *testing.T, sh *shell, b *block, own *strings.Replacer) {
	t.Helper()
	commands := []command{{text: b.text}}
	if b.language == "console" {
		var err error
		if commands, err = b.commands(); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range commands {
		status := 0
		if i == len(commands)-1 {
			status = b.status
		}
		text := own.Replace(c.text)
		if b.with != "" {
			text = "export " + b.with + "\n" + text + "\nunset " + strings.Split(b.with, "=")[0]
		}
		if b.inSource {
			text = "pushd " + source("") + " >/dev/null\n" + text + "\npopd >/dev/null"
		}
		got, err := sh.run(text, status)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if want := strings.TrimRight(own.Replace(c.output), "\n"); b.language == "console" && !b.outputVaries &&
			got != want {
			t.Errorf("%s: %s\nprints:\n%s\nnot:\n%s", b, c.text, got, want)
		}
	}
}

// environment is the environment of a user who has installed sluice and just opened a shell.
func environment(bin, dir string) []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "AWS_") && !strings.HasPrefix(variable, "SLUICE_") &&
			!strings.HasPrefix(variable, "PATH=") {
			env = append(env, variable)
		}
	}
	return append(env, "GOBIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"),
		"AWS_CONFIG_FILE="+filepath.Join(dir, ".aws", "config"),
		"AWS_SHARED_CREDENTIALS_FILE="+filepath.Join(dir, ".aws", "credentials"),
		"AWS_EC2_METADATA_DISABLED=true")
}

// Every page is in the table, with the number of blocks that are not run.
func TestSkippedBlocks(t *testing.T) {
	files, err := filepath.Glob(source("docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if page := "docs/" + filepath.Base(file); page != "docs/" {
			if _, known := pages[page]; !known {
				t.Errorf("%s: add it to the table of this test", page)
			}
		}
	}
	for page, want := range pages {
		notRun := 0
		for _, b := range load(t, page) {
			if b.notRun != "" {
				notRun++
				t.Logf("%s is not run: %s", b, b.notRun)
			}
		}
		if notRun != want {
			t.Errorf("%s: %d blocks are not run, the table of this test has %d", page, notRun, want)
		}
	}
}

// Blocks that are not commands name their language, and are valid.
func TestBlocksAreWhatTheySay(t *testing.T) {
	for page := range pages {
		for _, b := range load(t, page) {
			switch b.language {
			case "sh", "console", "text":
			case "json":
				if !json.Valid([]byte(b.text)) {
					t.Errorf("%s: it is not JSON", b)
				}
			case "yaml":
				var value any
				if err := yaml.Unmarshal([]byte(b.text), &value); err != nil {
					t.Errorf("%s: %v", b, err)
				}
			case "go", "python", "js", "java":
				checkSample(t, b)
			default:
				t.Errorf("%s: a block needs a language from the list in the package comment, not %q", b,
					b.language)
			}
		}
	}
}

// checkSample compares a block with its source file.
func checkSample(t *testing.T, b *block) {
	t.Helper()
	if !strings.HasPrefix(b.from, "examples/") {
		t.Errorf("%s: say in a comment which file in examples it is from", b)
		return
	}
	file, err := os.ReadFile(source(b.from))
	if err != nil {
		t.Error(err)
		return
	}
	if !contains(string(file), b.text) {
		t.Errorf("%s: these lines are not in %s:\n%s", b, b.from, b.text)
	}
}

// contains reports whether part is a run of consecutive lines of text, possibly all indented.
func contains(text, part string) bool {
	for _, indentation := range []string{"", "\t", "  ", "    ", "      "} {
		var indented strings.Builder
		for line := range strings.Lines(part) {
			if line != "\n" {
				line = indentation + line
			}
			indented.WriteString(line)
		}
		if strings.Contains("\n"+text, "\n"+indented.String()) {
			return true
		}
	}
	return false
}
