//go:build unix

package docs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is the time limit of a command.
const patience = 2 * time.Minute

// shell is a bash that runs one command after the other, as if typed: variables, functions and the directory stay.
type shell struct {
	commands io.Writer
	statuses chan int // closed when the shell has ended
	output   string   // the files with the output of the last command
	errors   string
	kill     func()
}

func newShell(t *testing.T, dir string, env []string) *shell {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc")
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	commands, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{writer} // file 3 of the shell
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	s := &shell{
		commands: commands, statuses: make(chan int),
		output: filepath.Join(t.TempDir(), "output"), errors: filepath.Join(t.TempDir(), "errors"),
		kill: func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) },
	}
	go func() {
		defer close(s.statuses)
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			status, err := strconv.Atoi(lines.Text())
			if err != nil {
				return
			}
			s.statuses <- status
		}
	}()
	t.Cleanup(func() {
		s.kill()
		_ = cmd.Wait() // it was killed
		reader.Close()
		for range s.statuses {
		}
	})
	return s
}

// run executes the text of a block. A failing command ends the shell, unless the block is expected to end with a
// status.
func (s *shell) run(text string, status int) (output string, err error) {
	err = s.execute(text, status)
	printed, readErr := os.ReadFile(s.output)
	if err != nil {
		said, _ := os.ReadFile(s.errors)
		err = fmt.Errorf("%w:\n%s\n%s%s", err, text, printed, said)
	}
	return strings.TrimRight(string(printed), "\n"), errors.Join(err, readErr)
}

func (s *shell) execute(text string, status int) error {
	each := "set -e"
	if status != 0 {
		each = "set +e"
	}
	_, err := fmt.Fprintf(s.commands, "%s\n{\n%s\n} >%q 2>%q </dev/null 3>&-\necho $? >&3\n", each, text, s.output,
		s.errors)
	if err != nil {
		return err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case got, ok := <-s.statuses:
		switch {
		case !ok:
			return errors.New("a command failed")
		case got != status:
			return fmt.Errorf("it ended with status %d, want %d", got, status)
		}
		return nil
	case <-late.C:
		s.kill()
		return fmt.Errorf("it does not end within %v", patience)
	}
}
