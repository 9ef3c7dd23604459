package backup

import (
	"encoding/hex"
	"errors"
	"hash"
	"time"

	"github.com/sluicemq/sluice/internal/datadir"
)

// About says what a backup is of.
type About struct {
	Format  int       // of the archive
	Version string    // of the program that made it
	Created time.Time // when it was begun
	Cluster string    `json:",omitempty"`
	Node    string    `json:",omitempty"` // which was asked for it
	Shards  int       // with messages
	Queues  int       `json:",omitempty"` // 0 if it does not say
	// Data is what the restored directory needs of a program.
	Data datadir.Format `json:",omitzero"`
}

// Contents is how much a backup holds.
type Contents struct {
	Files int
	Bytes int64
}

const (
	format     = 1
	aboutEntry = "sluice-backup.json" // the first
	sumsEntry  = "sha256.json"        // the last
	maxMeta    = 64 << 20             // bytes of either
)

// ErrNoBackup says that a stream is not a backup, or not a whole one.
var ErrNoBackup = errors.New("this is not a whole backup")

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
