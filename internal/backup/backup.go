package backup

import (
	"encoding/hex"
	"errors"
	"hash"
	"time"

	"github.com/sluicemq/sluice/internal/datadir"
)

// About describes a backup.
type About struct {
	Format  int       // of the archive
	Version string    // of the program that made it
	Created time.Time // time of its beginning
	Cluster string    `json:",omitempty"`
	Node    string    `json:",omitempty"` // which made it
	Shards  int       // with messages
	Queues  int       `json:",omitempty"` // 0 if unknown
	// Data is the minimum format that a program needs for the restored directory.
	Data datadir.Format `json:",omitzero"`
}

// Contents is the amount of data in a backup.
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

// ErrNoBackup reports that a stream is not a backup, or is incomplete.
var ErrNoBackup = errors.New("this is not a whole backup")

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
