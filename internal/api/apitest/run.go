package apitest

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
)

// A Server serves until its context ends.
type Server interface {
	Run(ctx context.Context) error
}

// Run serves until the test ends or stop is called, which waits until the server is done.
func Run(t *testing.T, s Server) (stop func() error) {
	t.Helper()
	stop = serve(s)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("the server stopped with %v", err)
		}
	})
	return stop
}

// Main runs the tests of a package, which share the server that start returns, and ends the process.
func Main[S Server](m *testing.M, start func() (S, error)) {
	s, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	stop := serve(s)
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// serve runs s until the function is called that it returns; to call it again does nothing more.
func serve(s Server) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var result error
	go func() {
		result = s.Run(ctx)
		close(done)
	}()
	return func() error {
		cancel()
		<-done
		return result
	}
}

var regions atomic.Int64

// NewRegion returns the name of a region that no other test of the process uses.
func NewRegion() string { return fmt.Sprintf("xx-test-%d", regions.Add(1)) }
