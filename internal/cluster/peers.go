package cluster

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
)

// Peer is a node of the cluster and the address where the others reach it.
type Peer struct {
	Name    string
	Address string // host:port
}

var namePattern = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$`)

// ValidName reports whether a name of a node is valid: 1 to 32 lower-case letters, digits and inner hyphens, as in the
// first label of a host name.
func ValidName(name string) bool { return namePattern.MatchString(name) }

// DefaultPort is the port on which nodes listen for each other.
const DefaultPort = "6222"

// ParsePeers reads the nodes of a cluster, each as host:port or name=host:port. A node without a name is named after
// the first label of its host; an IP address needs a name. The default port is DefaultPort.
func ParsePeers(list []string) ([]Peer, error) {
	if len(list) == 0 {
		return nil, errors.New("at least one node is needed")
	}
	var peers []Peer
	seen := make(map[string]bool)
	for _, s := range list {
		p, err := parsePeer(s)
		if err != nil {
			return nil, err
		}
		if seen[p.Name] || seen[p.Address] {
			return nil, fmt.Errorf("%q: that node is given twice", s)
		}
		seen[p.Name], seen[p.Address] = true, true
		peers = append(peers, p)
	}
	return peers, nil
}

func parsePeer(s string) (Peer, error) {
	name, address, named := strings.Cut(s, "=")
	if !named {
		address = s
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = strings.Trim(address, "[]"), DefaultPort
	}
	if host == "" || strings.ContainsAny(host, " /@") || port == "" {
		return Peer{}, fmt.Errorf("%q: want host:port or name=host:port", s)
	}
	if !named {
		name, _, _ = strings.Cut(host, ".")
		if net.ParseIP(host) != nil {
			return Peer{}, fmt.Errorf(
				"%q: an IP address needs a name before it, as in a=%s", s, net.JoinHostPort(host, port),
			)
		}
	}
	if !ValidName(name) {
		return Peer{}, fmt.Errorf("%q: %q cannot be the name of a node; want 1 to 32 lower-case letters, digits and inner hyphens", s, name)
	}
	return Peer{Name: name, Address: net.JoinHostPort(host, port)}, nil
}
