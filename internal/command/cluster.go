package command

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/cluster/pki"
)

func newCluster() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Work with a cluster of servers",
	}
	status := newClusterStatus(&endpoint)
	addEndpoint(status, &endpoint)
	cmd.AddCommand(status, newClusterCerts())
	return cmd
}

func newClusterCerts() *cobra.Command {
	var dir string
	var days int
	cmd := &cobra.Command{
		Use:   "certs --out DIR HOST[,HOST...]...",
		Short: "Make the certificates by which nodes know each other",
		Long: `Make the certificates by which nodes know each other: a private authority, and
for each node a certificate and a key signed by it. A node is given by the host
names and IP addresses under which the others reach it, separated by commas; the
files are named after the first.

Each node needs ca.crt and its own two files. Whoever has ca.key can make himself
a node: keep it off the nodes. With it in the directory, a later call adds nodes
to the same authority. Nothing that is there is overwritten.`,
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
			out := cmd.OutOrStdout()
			if isNew {
				fmt.Fprintln(out, "made a new authority in", dir)
			}
			for _, node := range args {
				certificate, key, err := authority.Issue(strings.Split(node, ","), days, now)
				if err != nil {
					return err
				}
				fmt.Fprintln(out, certificate, key)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "out", "", "directory to write to")
	cmd.Flags().IntVar(&days, "days", 365, "how long the nodes' certificates are valid")
	must(cmd.MarkFlagRequired("out"))
	directoryPath(cmd.Flags(), "out")
	return cmd
}
