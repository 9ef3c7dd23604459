//go:build unix

package main

import (
	"context"
	"os"
	"syscall"
	"time"
)

// hang stops a process for a while.
func hang(ctx context.Context, p *os.Process, d time.Duration) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	pause(ctx, d)
	return p.Signal(syscall.SIGCONT)
}
