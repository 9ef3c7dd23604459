package crash

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
	"github.com/sluicemq/sluice/test/program"
)

// asServer makes the test binary a server that reports on itself.
const asServer = "SLUICE_TEST_CRASH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(program.Main(m))
	}
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			fmt.Printf("goroutines %d\n", runtime.NumGoroutine())
		}
	}()
	os.Exit(command.Main())
}

// child is a server that reports its state.
type child struct {
	*process
	ask *os.File
}

// sample is the state of a server at a moment.
type sample struct {
	goroutines int
	memory     int64 // resident, in bytes; 0 where that is unknown
}

// launchChild starts a server whose goroutines can be counted.
func launchChild(t *testing.T, data string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	defer theirs.Close()
	cmd := exec.CommandContext(t.Context(), self, serve(data)...)
	cmd.Env = append(os.Environ(), asServer+"=1")
	cmd.Stdin = theirs
	return &child{process: begin(t, cmd), ask: ours}
}

func (c *child) sample(t *testing.T) sample {
	t.Helper()
	if _, err := fmt.Fprintln(c.ask); err != nil {
		t.Fatal(err)
	}
	n, ok := <-c.goroutines
	if !ok {
		t.Fatal("the server has ended")
	}
	return sample{goroutines: n, memory: c.memory("VmRSS")}
}

// memory returns a figure of the process's memory in bytes: VmRSS is the current memory, VmHWM the maximum. It is 0
// where the system does not report it.
func (p *process) memory(name string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
