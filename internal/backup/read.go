package backup

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"strings"
)

// Verify reads a stream to the end of the backup in it, and compares its contents with the checksums. It writes
// nothing.
func Verify(r io.Reader) (About, Contents, error) {
	in := tar.NewReader(r)
	about, err := readAbout(in)
	if err != nil {
		return about, Contents{}, fmt.Errorf("verify: %w", err)
	}
	contents, err := readFiles(in, Nowhere)
	if err == nil {
		// The archive's own end may follow; a writer waits until it is read.
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		return about, contents, fmt.Errorf("verify: %w", err)
	}
	return about, contents, nil
}

// Nowhere is a Create that discards its files.
func Nowhere(string) (io.WriteCloser, error) { return nowhere{}, nil }

type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Close() error                { return nil }

// readAbout reads the first entry, and refuses a backup that this program cannot
// read.
func readAbout(in *tar.Reader) (about About, err error) {
	header, err := in.Next()
	if err != nil {
		return about, fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	if header.Name != aboutEntry {
		return about, fmt.Errorf("%w: it begins with %q", ErrNoBackup, header.Name)
	}
	if err := decode(in, &about); err != nil {
		return about, err
	}
	if about.Format != format {
		return about, fmt.Errorf("the backup has the format %d, which this program does not know", about.Format)
	}
	return about, about.Data.Check("the backup")
}

// readFiles reads the files, writes each to the result of create for its name, and compares them with their checksums.
func readFiles(in *tar.Reader, create Create) (c Contents, err error) {
	sums := make(map[string]string)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return c, fmt.Errorf("%w: its end is missing", ErrNoBackup)
		} else if err != nil {
			return c, fmt.Errorf("%w: %w", ErrNoBackup, err)
		}
		if header.Name == sumsEntry {
			break
		}
		_, twice := sums[header.Name]
		if twice || header.Typeflag != tar.TypeReg || isSparse(header) || !IsName(header.Name) {
			return c, fmt.Errorf("%w: it has an entry %q", ErrNoBackup, header.Name)
		}
		if sums[header.Name], err = readFile(in, header.Name, create); err != nil {
			return c, fmt.Errorf("%s: %w", header.Name, err)
		}
		c.Files++
		c.Bytes += header.Size
	}
	var want map[string]string
	if err := decode(in, &want); err != nil {
		return c, err
	}
	if !maps.Equal(sums, want) {
		for name, sum := range want {
			if sums[name] != sum {
				return c, fmt.Errorf("%w: %s is not what was written", ErrNoBackup, name)
			}
		}
		return c, fmt.Errorf("%w: it has more files than were written", ErrNoBackup)
	}
	return c, ends(in)
}

// isSparse reports whether an entry claims holes, which take no space in the archive: a small archive could fill any
// disk. The writer makes none.
func isSparse(header *tar.Header) bool {
	for name := range header.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// ends returns an error if an entry follows the checksums: nothing vouches for it.
func ends(in *tar.Reader) error {
	switch header, err := in.Next(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNoBackup, err)
	default:
		return fmt.Errorf("%w: it has an entry %q behind its checksums", ErrNoBackup, header.Name)
	}
}

// IsName reports whether a name is the clean path of a file below a data directory.
func IsName(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && path.Clean(name) == name && name != "." &&
		name != aboutEntry && name != sumsEntry
}

func readFile(in io.Reader, name string, create Create) (sum string, err error) {
	f, err := create(name)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err = io.Copy(io.MultiWriter(f, h), in); err != nil {
		err = fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	return hexSum(h), errors.Join(err, f.Close())
}

func decode(r io.Reader, v any) error {
	if err := json.NewDecoder(io.LimitReader(r, maxMeta)).Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	return nil
}
