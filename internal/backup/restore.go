package backup

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
)

// Restore makes the directory dir, which must not be there or be empty, with the
// files of a backup. They are durable when it returns nil; after an error there
// is no dir. Before there is one, ready is called with the directory that will be
// it and may change what is in it.
func Restore(r io.Reader, dir string, ready func(dir string, about About) error) (About, error) {
	about, err := restore(r, dir, ready)
	if err != nil {
		return about, fmt.Errorf("restore: %w", err)
	}
	return about, nil
}

func restore(r io.Reader, dir string, ready func(string, About) error) (about About, err error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return about, fmt.Errorf("%s is not empty", dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return about, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return about, err
	}
	half := filepath.Clean(dir) + ".restoring"
	if err := os.Mkdir(half, 0o700); err != nil {
		return about, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(half))
		}
	}()
	in := tar.NewReader(r)
	if err := readJSON(in, aboutEntry, &about); err != nil {
		return about, err
	}
	if about.Format != format {
		return about, fmt.Errorf("the backup has the format %d, which this program does not know", about.Format)
	}
	if err := readFiles(in, half); err != nil {
		return about, err
	}
	if err := ready(half, about); err != nil {
		return about, err
	}
	if err := syncDirs(half); err != nil {
		return about, err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return about, err
	}
	if err := os.Rename(half, dir); err != nil {
		return about, err
	}
	return about, syncDir(filepath.Dir(filepath.Clean(dir)))
}

// readFiles makes the files under dir and compares them with their checksums.
func readFiles(in *tar.Reader, dir string) error {
	sums := make(map[string]string)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: its end is missing", ErrNoBackup)
		} else if err != nil {
			return fmt.Errorf("%w: %w", ErrNoBackup, err)
		}
		if header.Name == sumsEntry {
			break
		}
		if header.Typeflag != tar.TypeReg || !filepath.IsLocal(header.Name) {
			return fmt.Errorf("%w: it has an entry %q", ErrNoBackup, header.Name)
		}
		if sums[header.Name], err = readFile(in, filepath.Join(dir, filepath.FromSlash(header.Name))); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	var want map[string]string
	if err := decode(in, &want); err != nil {
		return err
	}
	if !maps.Equal(sums, want) {
		for name, sum := range want {
			if sums[name] != sum {
				return fmt.Errorf("%w: %s is not what was written", ErrNoBackup, name)
			}
		}
		return fmt.Errorf("%w: it has more files than were written", ErrNoBackup)
	}
	return nil
}

func readFile(in io.Reader, path string) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err = io.Copy(io.MultiWriter(f, h), in); err != nil {
		err = fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	return hexSum(h), errors.Join(err, f.Sync(), f.Close())
}

func readJSON(in *tar.Reader, name string, v any) error {
	header, err := in.Next()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	if header.Name != name {
		return fmt.Errorf("%w: it begins with %q", ErrNoBackup, header.Name)
	}
	return decode(in, v)
}

func decode(r io.Reader, v any) error {
	if err := json.NewDecoder(io.LimitReader(r, maxMeta)).Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	return nil
}

// syncDirs makes the entries of dir and of all directories in it durable.
func syncDirs(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return syncDir(path)
	})
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
