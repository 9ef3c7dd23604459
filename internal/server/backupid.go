package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/tool/durable"
)

// backupID returns the id that distinguishes the data directory from all others. It creates the id at the first use. A
// backup does not include it, so a restored directory is another one.
func backupID(dir string) (string, error) {
	file := filepath.Join(dir, datadir.BackupIDFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(rand.Text() + "\n")
		err = durable.Create(file, text)
	}
	id := strings.TrimSpace(string(text))
	if err == nil && id == "" {
		err = errors.New("it is empty: remove it, and name a new place for backups")
	}
	if err != nil {
		return "", fmt.Errorf("the identity of the data directory: %w", err)
	}
	return id, nil
}
