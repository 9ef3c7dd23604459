package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// NodeFile is the file in a data directory that says which node it belongs to.
const NodeFile = "node"

// incarnation is a node with a data directory. A node that comes back with an
// empty disk is another one: it must not be taken for a member of majorities
// whose records it no longer has.
type incarnation struct {
	Cluster string
	Node    string
	ID      string
}

// server is the name under which the engine knows the node.
func (i incarnation) server() string { return i.Node + "-" + i.ID }

// openIncarnation reads the file, or makes it if the directory belongs to no
// node yet.
func openIncarnation(dir, cluster, node string) (incarnation, error) {
	path := filepath.Join(dir, NodeFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return newIncarnation(path, cluster, node)
	}
	if err != nil {
		return incarnation{}, err
	}
	var i incarnation
	if err := json.Unmarshal(b, &i); err != nil || i.ID == "" {
		return incarnation{}, fmt.Errorf("%s does not say which node the data directory belongs to: %w", path, errors.Join(err, errDamaged))
	}
	if i.Cluster != cluster || i.Node != node {
		return incarnation{}, fmt.Errorf("the data directory %s belongs to the node %s of the cluster %s, not to the node %s of %s", dir, i.Node, i.Cluster, node, cluster)
	}
	return i, nil
}

var errDamaged = errors.New("it is damaged")

func newIncarnation(path, cluster, node string) (incarnation, error) {
	id := make([]byte, 4)
	rand.Read(id)
	i := incarnation{Cluster: cluster, Node: node, ID: hex.EncodeToString(id)}
	b, err := json.Marshal(i)
	if err != nil {
		return i, err
	}
	// Nothing refers to it before it is there for good.
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return i, err
	}
	_, err = f.Write(append(b, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return i, err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return i, err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return i, err
	}
	return i, errors.Join(d.Sync(), d.Close())
}
