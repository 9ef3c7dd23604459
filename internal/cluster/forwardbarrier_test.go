package cluster

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestHeldGateIsShut(t *testing.T) {
	g := newForwardBarrier()
	leave, err := g.pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan error, 1)
	go func() { held <- g.hold(t.Context(), 1, time.Hour) }()
	for { // until it is closed
		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		left, err := g.pass(short)
		cancel()
		if err != nil {
			break
		}
		left()
	}
	select {
	case <-held:
		t.Fatal("the barrier is held while a message is passing")
	default:
	}
	leave()
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	if err := g.hold(t.Context(), 2, time.Hour); err != nil {
		t.Fatalf("held twice: %v", err)
	}
	passed := make(chan error, 1)
	go func() {
		leave, err := g.pass(t.Context())
		if err == nil {
			leave()
		}
		passed <- err
	}()
	if !g.release(1) {
		t.Error("the first holder did not hold it")
	}
	select {
	case <-passed:
		t.Error("a message passes the gate that the second holds")
	case <-time.After(20 * time.Millisecond):
	}
	if !g.release(2) {
		t.Error("the second holder did not hold it")
	}
	if err := <-passed; err != nil {
		t.Error(err)
	}
}

func TestGateOpensByItself(t *testing.T) {
	g := newForwardBarrier()
	if err := g.hold(t.Context(), 1, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	leave, err := g.pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if g.release(1) {
		t.Error("the holder says that it held it all the time")
	}
	// A holder that gives up leaves the gate open.
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := g.hold(short, 2, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a message is passing: %v", err)
	}
	leave()
	leave, err = g.pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
