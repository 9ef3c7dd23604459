package program

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/bench"
)

// Build builds the program of the source in the working directory, which is the project's root.
func Build(ctx context.Context, binary string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/sluice").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build ./cmd/sluice (run this in the project's root): %w\n%s", err, out)
	}
	return nil
}

// Server is a running server.
type Server struct {
	Endpoint string
	Client   string // the program whose bench command loads it; empty: its own

	cmd    *exec.Cmd
	data   string
	env    []string // how a client reaches it
	stderr bytes.Buffer
}

// Start starts a server with its data somewhere below dir, and returns when it listens.
func Start(ctx context.Context, binary, dir string, flags ...string) (*Server, error) {
	data, err := os.MkdirTemp(dir, "sluice-data-")
	if err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, flags...)
	s := &Server{data: data, cmd: exec.CommandContext(ctx, binary, args...)}
	s.cmd.Env = plainEnvironment()
	s.cmd.Stderr = &s.stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = time.Minute
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(data))
	}
	s.env = plainEnvironment()
	started := false
	for lines := bufio.NewScanner(stdout); !started && lines.Scan(); {
		if export, ok := strings.CutPrefix(lines.Text(), "export "); ok {
			s.env = append(s.env, export)
			if endpoint, ok := strings.CutPrefix(export, "AWS_ENDPOINT_URL_SQS="); ok {
				s.Endpoint = endpoint
			}
			started = strings.HasPrefix(export, lastExport)
		}
	}
	if !started {
		return nil, errors.Join(errors.New("the server did not start"), s.Stop())
	}
	return s, nil
}

// lastExport is the beginning of the last of the lines with which the server prints how to reach it.
const lastExport = "AWS_DEFAULT_REGION="

// plainEnvironment is this process's environment without the variables that configure the server or the client.
func plainEnvironment() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SLUICE_") && !strings.HasPrefix(v, "AWS_") {
			env = append(env, v)
		}
	}
	return env
}

// Report is what "sluice bench --json" prints, and the flags it was given.
type Report struct {
	Flags string
	*bench.Report
	Ceiling *bench.Report `json:",omitempty"`
	Ratio   float64       `json:",omitempty"`
}

// Bench runs "sluice bench" against the server, and has it report the server's processor time or memory. A failed call
// is an error.
func (s *Server) Bench(ctx context.Context, flags []string) (Report, error) {
	about := []string{"bench", "--json", "--server-pid", strconv.Itoa(s.cmd.Process.Pid)}
	cmd := exec.CommandContext(ctx, cmp.Or(s.Client, s.cmd.Path), append(about, flags...)...)
	cmd.Env = s.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[1:], " "), err, &stderr)
	}
	r := Report{Flags: strings.Join(flags, " ")}
	if err := json.Unmarshal(out, &r); err != nil {
		return Report{}, fmt.Errorf("read the report: %w", err)
	}
	if r.Errors > 0 {
		return Report{}, fmt.Errorf("%d calls failed, the last with: %s", r.Errors, r.LastError)
	}
	return r, nil
}

// Use returns the resources that the server has used so far.
func (s *Server) Use() Use { return UseOf(s.cmd.Process.Pid) }

// Stop ends the server and removes its data.
func (s *Server) Stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt) // if it has ended, Wait returns why
	err := s.cmd.Wait()
	if err != nil {
		err = fmt.Errorf("sluice serve: %w\n%s", err, &s.stderr)
	}
	return errors.Join(err, os.RemoveAll(s.data))
}
