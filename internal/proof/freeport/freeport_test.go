package freeport_test

import (
	"net"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/freeport"
)

func TestTake(t *testing.T) {
	seen := make(map[string]bool)
	for range 20 {
		addresses, err := freeport.Take(5)
		if err != nil || len(addresses) != 5 {
			t.Fatal(addresses, err)
		}
		for _, a := range addresses {
			if seen[a] {
				t.Errorf("%s is returned twice", a)
			}
			seen[a] = true
			l, err := net.Listen("tcp", a)
			if err != nil {
				t.Error(err)
				continue
			}
			_ = l.Close()
		}
	}
}
