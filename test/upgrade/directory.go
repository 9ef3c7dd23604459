package upgrade

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Pack returns a directory as an archive.
func Pack(dir string) ([]byte, error) {
	var out bytes.Buffer
	packer, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(packer)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "LOCK" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{
			Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(text)),
		}); err != nil {
			return err
		}
		_, err = archive.Write(text)
		return err
	})
	err = errors.Join(err, archive.Close(), packer.Close())
	return out.Bytes(), err
}

// Unpack writes the files of an archive, of Pack or of a commit, to a directory.
func Unpack(packed []byte, dir string) error {
	unpacker, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	archive := tar.NewReader(unpacker)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(header.Name) || strings.Contains(header.Name, `\`) {
			return fmt.Errorf("the archive has a file %q", header.Name)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		text, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
			return err
		}
	}
}
