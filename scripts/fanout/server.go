package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
)

// server is a Sluice with a data directory of its own, and a client of it.
type server struct {
	*workload.Client
	cmd *exec.Cmd
	dir string
}

// start builds the program and starts it; it returns when the server listens.
func start(ctx context.Context, in string) (*server, error) {
	dir, err := os.MkdirTemp(in, "fanout-")
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "sluice")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/sluice").CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build ./cmd/sluice (run this in the project's root): %w\n%s", err, out), os.RemoveAll(dir))
	}
	s := &server{dir: dir, cmd: exec.CommandContext(ctx, binary, "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0",
		"--root-access-key-id", workload.Root.AccessKeyID, "--root-secret-access-key", workload.Root.Secret)}
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = time.Minute
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if endpoint, ok := strings.CutPrefix(lines.Text(), "export AWS_ENDPOINT_URL_SQS="); ok {
			s.Client = workload.NewClient(endpoint)
			return s, nil
		}
	}
	return nil, errors.Join(errors.New("the server did not start"), s.stop())
}

func (s *server) stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt)
	return errors.Join(s.cmd.Wait(), os.RemoveAll(s.dir))
}

// establish makes queues and a topic that has them.
func (s *server) establish(topic string, queues []string, raw bool) error {
	for _, q := range queues {
		if err := s.queue(q); err != nil {
			return err
		}
	}
	return s.topic(topic, queues, raw)
}

func (s *server) queue(name string) error {
	if err := s.Create(history.Queue{Name: name}); err != nil {
		return err
	}
	return s.Admit(name)
}

func (s *server) topic(name string, queues []string, raw bool) error {
	if err := s.Notify("CreateTopic", url.Values{"Name": {name}}, nil); err != nil {
		return err
	}
	for _, q := range queues {
		if err := s.Subscribe(name, q, raw); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) publish(topic, body string) error {
	return s.Notify("Publish", url.Values{"TopicArn": {workload.TopicARN(topic)}, "Message": {body}}, nil)
}

func (s *server) send(queue, body string) error {
	return s.Call("SendMessage", workload.Object{"QueueUrl": s.URL(queue), "MessageBody": body}, nil)
}

// cpu returns the processor time that the server has taken.
func (s *server) cpu() time.Duration { return cpuOf(s.cmd.Process.Pid) }

// cpuOf returns the processor time that a process has taken, 0 where that is not known.
func cpuOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system, tick = 11, 12, 10 * time.Millisecond
	total := time.Duration(0)
	for _, i := range []int{user, system} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0
		}
		total += time.Duration(n) * tick
	}
	return total
}

// memory returns the bytes of memory that the server has, 0 where that is not known.
func (s *server) memory() int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n * os.Getpagesize()
}
