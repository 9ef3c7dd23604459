package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/tool/durable"
)

// incarnation is a node with a data directory. A node that returns with an empty disk is another incarnation: it must
// not count as a member of majorities whose records it no longer has.
type incarnation struct {
	Cluster string
	Node    string
	ID      string
}

// server returns the engine's name for the node.
func (i incarnation) server() string { return i.Node + "-" + i.ID }

// openIncarnation reads which incarnation a directory belongs to. It prepares a directory that belongs to no node for
// this node, as a new incarnation. See claimDirectory.
func openIncarnation(dir, cluster, node string) (i incarnation, isNew bool, err error) {
	i, err = readIncarnation(filepath.Join(dir, datadir.NodeFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		i, err = prepareIncarnation(dir, cluster, node)
		return i, true, err
	case err != nil:
		return i, false, err
	case i.Cluster != cluster || i.Node != node:
		err = fmt.Errorf(
			"the data directory %[1]s belongs to the node %[2]s of the cluster %[3]s, not to the node %[4]s of %[5]s: give --node %[2]s --cluster-name %[3]s, or another directory",
			dir,
			i.Node,
			i.Cluster,
			node,
			cluster,
		)
	}
	return i, false, err
}

func readIncarnation(path string) (i incarnation, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(b, &i); err != nil || i.ID == "" {
		return i, fmt.Errorf("%s does not name the node that the data directory belongs to: %w", path, errors.Join(err, errDamaged))
	}
	return i, nil
}

var errDamaged = errors.New("it is damaged")

// prepareIncarnation returns the incarnation of an earlier attempt to join, whose server the others may know, or a new
// one. It removes the remains of an attempt under another name.
func prepareIncarnation(dir, cluster, node string) (incarnation, error) {
	path := filepath.Join(dir, datadir.JoiningFile)
	i, err := readIncarnation(path)
	if err == nil && i.Cluster == cluster && i.Node == node {
		return i, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged) {
		return i, err
	}
	if err := os.RemoveAll(filepath.Join(dir, datadir.LogDir)); err != nil {
		return i, err
	}
	id := make([]byte, 4)
	rand.Read(id)
	i = incarnation{Cluster: cluster, Node: node, ID: hex.EncodeToString(id)}
	b, err := json.Marshal(i)
	if err != nil {
		return i, err
	}
	// Nothing refers to the directory before it is durable.
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return i, err
	}
	_, err = f.Write(append(b, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return i, err
	}
	return i, renameDurably(path+".new", path)
}

// claimDirectory assigns the directory to a node that has found its cluster.
func claimDirectory(dir string) error {
	return renameDurably(filepath.Join(dir, datadir.JoiningFile), filepath.Join(dir, datadir.NodeFile))
}

// releaseDirectory undoes claimDirectory, because the directory's data belongs to another cluster. The data is
// unchanged.
func releaseDirectory(dir string) error {
	return renameDurably(filepath.Join(dir, datadir.NodeFile), filepath.Join(dir, datadir.JoiningFile))
}

func renameDurably(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(to))
}
