package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Write writes a backup of all files under dir.
func Write(ctx context.Context, w io.Writer, about About, dir string) error {
	out, err := NewWriter(w, about)
	if err == nil {
		err = out.AddDir(ctx, "", dir)
	}
	if err == nil {
		err = out.Close()
	}
	return err
}

// Writer writes a backup piece by piece: the files may come from several directories and machines.
type Writer struct {
	out  *tar.Writer
	sums map[string]string
}

// NewWriter begins a backup. It is complete when Close has returned nil.
func NewWriter(w io.Writer, about About) (*Writer, error) {
	about.Format = format
	out := &Writer{tar.NewWriter(w), make(map[string]string)}
	if err := writeJSON(out.out, aboutEntry, about); err != nil {
		return nil, fmt.Errorf("write backup: %w", err)
	}
	return out, nil
}

// Add adds a file of that size. Its name is its path in the data directory, with slashes.
func (w *Writer) Add(name string, size int64, modified time.Time, from io.Reader) error {
	if _, there := w.sums[name]; there || !IsName(name) {
		return fmt.Errorf("write backup: there cannot be a file %q", name)
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: modified}
	if err := w.out.WriteHeader(header); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	h := sha256.New()
	// Bytes that are appended to a file meanwhile are not part of it.
	if _, err := io.CopyN(io.MultiWriter(w.out, h), from, size); err != nil {
		return fmt.Errorf("write backup: %s: %w", name, err)
	}
	w.sums[name] = hexSum(h)
	return nil
}

// AddDir adds all files under dir; under is their directory in the data directory, or empty.
func (w *Writer) AddDir(ctx context.Context, under, dir string) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return w.addFile(path.Join(under, filepath.ToSlash(name)), file)
	})
}

func (w *Writer) addFile(name, file string) (err error) {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return w.Add(name, info.Size(), info.ModTime(), f)
}

// Close ends the backup with the checksums of its files. Without it the backup is incomplete.
func (w *Writer) Close() error {
	if err := errors.Join(writeJSON(w.out, sumsEntry, w.sums), w.out.Close()); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

func writeJSON(out *tar.Writer, name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if err := out.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: int64(len(b)), Mode: 0o600,
	}); err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}
