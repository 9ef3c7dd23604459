//go:build !unix

package main

import (
	"context"
	"errors"
	"os"
	"time"
)

// hang reports that processes cannot be stopped for a while here.
func hang(context.Context, *os.Process, time.Duration) error {
	return errors.New("this system cannot stop a process for a while")
}
