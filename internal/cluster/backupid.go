package cluster

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
)

// BackupID returns the identity of the continuous backups of this cluster. The first call creates the identity, and
// must be made where the control shard is owned. Detach removes it, so a cluster made from a backup gets another one.
func (n *Node) BackupID(ctx context.Context) (string, error) {
	if id := n.records.allSettings().Backup; id != "" {
		return id, nil
	}
	if err := n.Reads(formats.ClusterBackups); err != nil {
		return "", fmt.Errorf("continuous backups begin when all nodes know how: %w", err)
	}
	return control.Decide(ctx, n.control.store.Change, func(tx *control.Tx) (string, error) {
		s := n.records.allSettings()
		if s.Backup == "" {
			s.Backup = rand.Text()
			put(tx, keySettings, s)
		}
		return s.Backup, nil
	})
}
