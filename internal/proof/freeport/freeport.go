// Package freeport finds ports for servers that tests start.
//
// A server with port 0 gets a free port, but some addresses must be known before the server listens: those by which the
// nodes of a cluster find each other. A port that was free a moment ago may then be taken, by the end of an outgoing
// connection most of all. So Take gives ports below those that systems use for outgoing connections (from 32768 on
// Linux, from 49152 elsewhere), and each only once in a process.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

const first, last = 20000, 32000

var (
	mu    sync.Mutex
	given = make(map[int]bool)
)

// Take returns n addresses of this machine on which no program listens.
func Take(n int) (addresses []string, err error) {
	mu.Lock()
	defer mu.Unlock()
	for range 100 * n {
		if len(addresses) == n {
			return addresses, nil
		}
		port := first + rand.IntN(last-first)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if given[port] {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue // a program listens there
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
		given[port] = true
		addresses = append(addresses, address)
	}
	return nil, errors.New("no free ports between 20000 and 32000")
}
