package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/cluster/pki"
)

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Work with a cluster of servers",
	}
	cmd.AddCommand(newClusterStatus(), newClusterQueues(), newClusterCerts())
	return cmd
}

func newClusterCerts() *cobra.Command {
	var dir string
	var days int
	var out output
	cmd := &cobra.Command{
		Use:   "certs --out DIR HOST[,HOST...]...",
		Short: "Create the certificates of nodes",
		Long: `Create the certificates that identify nodes to each other: a private authority, and a
certificate and key for each node. Each HOST has the host names and IP addresses by
which the others reach a node, separated by commas. The first one names the files.

Each node needs ca.crt and its own two files. ca.key creates new nodes: keep it
elsewhere. With it in the directory, a later call adds nodes. No file is overwritten.`,
		Example: `  sluice cluster certs --out certs a.example b.example c.example
  sluice cluster certs --out certs d.example,10.0.0.4`,
		Args: arguments("HOST..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if days < 1 {
				return usage(errors.New("--days must be at least 1"))
			}
			now := time.Now()
			authority, isNew, err := pki.Open(dir, now)
			if err != nil {
				return err
			}
			made := certificates{Directory: dir, NewAuthority: isNew, Nodes: []nodeCertificate{}}
			for _, node := range args {
				certificate, key, err := authority.Issue(strings.Split(node, ","), days, now)
				if err != nil {
					return err
				}
				made.Nodes = append(made.Nodes, nodeCertificate{certificate, key})
			}
			return out.print(cmd, made)
		},
	}
	cmd.Flags().StringVar(&dir, "out", "", "directory to write to")
	cmd.Flags().IntVar(&days, "days", 365, "how long the nodes' certificates are valid")
	must(cmd.MarkFlagRequired("out"))
	directoryPath(cmd.Flags(), "out")
	out.add(cmd)
	return cmd
}

// certificates is the answer of cluster certs.
type certificates struct {
	Directory    string
	NewAuthority bool
	Nodes        []nodeCertificate
}

// nodeCertificate names the files of a node.
type nodeCertificate struct{ Certificate, Key string }

func (c certificates) text(w io.Writer) error {
	if c.NewAuthority {
		fmt.Fprintln(w, "created a new authority in", c.Directory)
	}
	for _, n := range c.Nodes {
		fmt.Fprintln(w, n.Certificate, n.Key)
	}
	return nil
}
