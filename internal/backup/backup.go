package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// About says what a backup is of.
type About struct {
	Format  int       // of the archive
	Version string    // of the program that made it
	Created time.Time // when it was begun
	Cluster string    `json:",omitempty"`
	Node    string    `json:",omitempty"`
	Shards  int       // with messages
}

const (
	format     = 1
	aboutEntry = "sluice-backup.json" // the first
	sumsEntry  = "sha256.json"        // the last
	maxMeta    = 64 << 20             // bytes of either
)

// ErrNoBackup says that a stream is not a backup, or not a whole one.
var ErrNoBackup = errors.New("this is not a whole backup")

// Write writes all files under dir.
func Write(ctx context.Context, w io.Writer, about About, dir string) error {
	about.Format = format
	out := tar.NewWriter(w)
	if err := writeJSON(out, aboutEntry, about); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	sums := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		sums[name], err = writeFile(out, name, path)
		return err
	})
	if err == nil {
		err = writeJSON(out, sumsEntry, sums)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

func writeFile(out *tar.Writer, name, path string) (sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: 0o600, ModTime: info.ModTime()}
	if err := out.WriteHeader(header); err != nil {
		return "", err
	}
	h := sha256.New()
	// What is appended to a file meanwhile is not part of it.
	if _, err := io.CopyN(io.MultiWriter(out, h), f, info.Size()); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return hexSum(h), nil
}

func writeJSON(out *tar.Writer, name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(b)), Mode: 0o600}); err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
