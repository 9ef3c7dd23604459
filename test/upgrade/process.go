package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/sluicemq/sluice/internal/proof/freeport"
)

// Server is a process of any version of the program.
type Server struct {
	Endpoint string
	cmd      *exec.Cmd
	log      *os.File
	ended    chan error
}

// Keys of the root in all fixtures, which no real server has.
const (
	RootID     = "AKIAUPGRADEFIXTURE00"
	RootSecret = "a-secret-of-fixtures-only-0123456789abcd"
)

// Start starts a program on a data directory. It waits until the server answers.
func Start(ctx context.Context, binary, dir, logFile string, env ...string) (*Server, error) {
	addresses, err := freeport.Take(1)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Server{Endpoint: "http://" + addresses[0], log: log, ended: make(chan error, 1)}
	s.cmd = exec.CommandContext(
		ctx,
		binary,
		"serve",
		"--data",
		dir,
		"--listen",
		addresses[0],
		"--root-access-key-id",
		RootID,
		"--root-secret-access-key",
		RootSecret,
	)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() { s.ended <- s.cmd.Wait() }()
	c := &Client{Endpoint: s.Endpoint}
	for deadline := time.Now().Add(time.Minute); ; {
		var refusal *Refusal
		if err := c.SQS(ctx, "ListQueues", map[string]string{}, nil); errors.As(err, &refusal) { // it does not know the key
			return s, nil
		}
		select {
		case err := <-s.ended:
			text, _ := os.ReadFile(logFile) // it is only for the error
			return nil, fmt.Errorf("the server has ended (%w): %s", err, text)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(errors.New("the server does not answer"), s.Kill())
		}
	}
}

// Client returns what calls the server as its root.
func (s *Server) Client() *Client {
	return &Client{Endpoint: s.Endpoint, ID: RootID, Secret: RootSecret}
}

// Kill ends the process at once.
func (s *Server) Kill() error {
	if err := s.cmd.Process.Kill(); err != nil {
		return err
	}
	if err := <-s.ended; err == nil {
		return errors.Join(errors.New("the server has ended by itself, before it was killed"), s.log.Close())
	}
	return s.log.Close()
}

// Stop ends the process in order.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return errors.Join(<-s.ended, s.log.Close())
}
