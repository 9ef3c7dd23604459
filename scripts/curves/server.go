package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// build builds the program that is measured.
func build(ctx context.Context, binary string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/sluice").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build ./cmd/sluice (run this in the project's root): %w\n%s", err, out)
	}
	return nil
}

// server is a Sluice with a data directory of its own.
type server struct {
	cmd    *exec.Cmd
	data   string
	env    []string // how a client reaches it
	stderr bytes.Buffer
}

// startServer returns when the server listens.
func startServer(ctx context.Context, binary, dir string) (*server, error) {
	data, err := os.MkdirTemp(dir, "curves-")
	if err != nil {
		return nil, err
	}
	// Batches of ten are to hold messages of 64 KiB, as they do at AWS.
	s := &server{data: data, cmd: exec.CommandContext(ctx, binary, "serve",
		"--data", data, "--listen", "127.0.0.1:0", "--max-message-size", "1048576")}
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
			started = strings.HasPrefix(export, lastExport)
		}
	}
	if !started {
		return nil, errors.Join(errors.New("the server did not start"), s.stop())
	}
	return s, nil
}

// lastExport is how the last of the lines begins that the server prints to say how it is
// reached.
const lastExport = "AWS_DEFAULT_REGION="

// plainEnvironment is ours without what would configure the server or the client.
func plainEnvironment() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SLUICE_") && !strings.HasPrefix(v, "AWS_") {
			env = append(env, v)
		}
	}
	return env
}

// bench runs "sluice bench" against the server.
func (s *server) bench(ctx context.Context, flags []string) (Report, error) {
	cmd := exec.CommandContext(ctx, s.cmd.Path, append([]string{"bench", "--json"}, flags...)...)
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

// stop ends the server and removes its data.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt) // if it has ended, Wait says so
	err := s.cmd.Wait()
	if err != nil {
		err = fmt.Errorf("sluice serve: %w\n%s", err, &s.stderr)
	}
	return errors.Join(err, os.RemoveAll(s.data))
}
