package torture

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/test/program"
)

// build compiles the server, once for all tests.
func build(t *testing.T) (binary string) {
	t.Helper()
	program.Long(t)
	return program.Build(t)
}

// short is a run of some seconds, on a machine that may be slow. It finds broken promises, not delays.
func short(t *testing.T, bin string, nodes int, faults ...string) Config {
	c := Default()
	c.Bin, c.Dir, c.Nodes, c.Faults = bin, t.TempDir(), nodes, faults
	c.Seed = uint64(time.Now().UnixNano())
	c.Duration, c.Round, c.Longest = 16*time.Second, 8*time.Second, 3*time.Second
	c.Margin = 500 * time.Millisecond
	c.Grace = 5 * time.Minute
	return c
}

func torture(t *testing.T, c Config) *Report {
	t.Helper()
	var out bytes.Buffer
	report, err := Run(t.Context(), c, &out)
	if report != nil {
		report.Print(&out)
	}
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// good checks that a run did its work and found no violation.
func good(t *testing.T, r *Report) {
	t.Helper()
	for _, v := range r.Violations {
		t.Errorf("seed %d: %s", r.Seed, v)
	}
	if len(r.Faults) == 0 || r.Calls["send ok"] == 0 || r.Calls["delete ok"] == 0 {
		t.Errorf("faults %v, calls %v", r.Faults, r.Calls)
	}
	if r.Exits > 0 {
		t.Errorf("%d servers ended by themselves", r.Exits)
	}
}

func TestOneNode(t *testing.T) {
	t.Parallel()
	c := short(t, build(t), 1, "kill", "restart", "clients")
	if pausing(&c) == "" {
		c.Faults = append(c.Faults, "pause")
	}
	good(t, torture(t, c))
	if left, err := os.ReadDir(c.Dir); err != nil || len(left) > 0 {
		t.Errorf("left in the directory: %v, %v", left, err)
	}
}

func TestThreeNodes(t *testing.T) {
	t.Parallel()
	bin := build(t)
	c := short(t, bin, 3, "kill", "restart", "clients", "partition", "latency", "kill-all")
	c.Duration, c.Round = 30*time.Second, 30*time.Second
	if pausing(&c) == "" {
		c.Faults = append(c.Faults, "pause")
	}
	r := torture(t, c)
	good(t, r)
	if r.Calls["undo purge ok"] == 0 || r.Calls["undo delete ok"] == 0 {
		t.Errorf("nothing was undone: %v", r.Calls)
	}
}

// Clients do not notice an upgrade of one node after the other: FIFO keeps its order, and nothing is lost.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	bin := build(t)
	c := short(t, bin, 3, "restart")
	c.Duration, c.Round = 8*time.Second, 8*time.Second
	r := torture(t, c)
	good(t, r)
	if r.Faults["restart"] == 0 {
		t.Errorf("no node was restarted: %v", r.Faults)
	}
}

// A node that was away for so long that it needs a checkpoint knows everything that was created meanwhile, and nothing
// is lost.
func TestAbsence(t *testing.T) {
	t.Parallel()
	if os.Getenv("SLUICE_TEST_ABSENCE") == "" {
		t.Skip("it takes minutes on an otherwise idle machine: set SLUICE_TEST_ABSENCE=1")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("the server cannot be built without the go tool: %v", err)
	}
	bin := filepath.Join(t.TempDir(), "sluice")
	build := exec.CommandContext(t.Context(), tool, "build", "-tags", faultsTag, "-o", bin,
		"github.com/sluicemq/sluice/cmd/sluice")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := short(t, bin, 3, "absence")
	r := torture(t, c)
	good(t, r)
	if r.Returns == 0 {
		t.Errorf("no node returned by checkpoint: %v", r.Faults)
	}
}

// A server that stores nothing breaks promises, and the run finds them.
func TestForgetful(t *testing.T) {
	t.Parallel()
	c := short(t, build(t), 1, "kill")
	c.Duration, c.Round = 5*time.Second, 5*time.Second
	c.Serve = []string{"--in-memory"}
	c.Patience = 2 * time.Second
	r := torture(t, c)
	broken := func(rule string) bool {
		return slices.ContainsFunc(r.Violations, func(v history.Violation) bool { return v.Rule == rule })
	}
	if !broken("lost") || !broken("refusal") {
		t.Errorf("found only %v", r.Violations)
	}
	if len(r.Histories) != 1 {
		t.Fatalf("histories: %v", r.Histories)
	}
	file, err := os.Open(r.Histories[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h, err := history.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if again := h.Verdict(); !slices.Equal(again, r.Violations) {
		t.Errorf("a second check found %d violations, or others; the first found %d", len(again), len(r.Violations))
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "a", "log")); err != nil {
		t.Errorf("the log has not been kept: %v", err)
	}
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"":                   func(*Config) {},
		"--nodes 0":          func(c *Config) { c.Nodes = 0 },
		"--faults earthquak": func(c *Config) { c.Faults = []string{"earthquake"} },
		"it takes three":     func(c *Config) { c.Nodes, c.Faults = 2, []string{"wipe"} },
		"several nodes":      func(c *Config) { c.Nodes, c.Faults = 1, []string{"partition"} },
		faultsTag:            func(c *Config) { c.Faults = []string{"clock"} },
		"--longest 1s":       func(c *Config) { c.Longest = time.Second },
	} {
		c := Default()
		c.Bin, c.Dir = os.Args[0], "somewhere"
		change(&c)
		if err := c.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
