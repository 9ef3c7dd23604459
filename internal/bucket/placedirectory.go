package bucket

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// directoryPlace is a Place in a directory. Only its owner can read what it creates.
type directoryPlace struct{ *Directory }

func openDirectoryPlace(dir string) (Place, error) {
	d, err := OpenDirectory(dir)
	if err != nil {
		return nil, err
	}
	d.dirMode, d.fileMode = 0o700, 0o600
	return directoryPlace{d}, nil
}

// List implements Place.
func (p directoryPlace) List(ctx context.Context, prefix string) (list []Listed, err error) {
	err = p.walk(ctx, func(key string, e fs.DirEntry) error {
		if isTemporary(key) || !strings.HasPrefix(key, prefix) {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed meanwhile
		}
		if err == nil {
			list = append(list, Listed{key, info.Size()})
		}
		return err
	})
	return list, err
}

// walk calls f for each file.
func (p directoryPlace) walk(ctx context.Context, f func(key string, e fs.DirEntry) error) error {
	return fs.WalkDir(p.root.FS(), ".", func(key string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && key != ".":
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir():
			return nil
		}
		return f(key, e)
	})
}

// Open implements Place.
func (p directoryPlace) Open(_ context.Context, key string) (io.ReadCloser, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	f, err := p.root.Open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoObject
	}
	return f, err
}

// Put implements Place.
func (p directoryPlace) Put(ctx context.Context, key string, c *Content) error {
	return p.store(key, c.write(ctx), p.root.Rename)
}

// Create implements Place. Unlike a rename, a link replaces nothing.
func (p directoryPlace) Create(_ context.Context, key string, body []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}
	err := p.store(key, write, func(from, to string) error {
		return errors.Join(p.root.Link(from, to), p.root.Remove(from))
	})
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	return err
}

// store writes a file next to its place, and lets put rename it.
func (p directoryPlace) store(key string, write func(io.Writer) error, put func(from, to string) error) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := p.makeDir(".", path.Dir(key)); err != nil {
		return err
	}
	if err := p.writeFile(key, write, put); err != nil {
		return err
	}
	return p.sync(path.Dir(key))
}

// Delete implements Place. The removal is durable: an object that names others does not reappear after a loss of power
// when those have been removed later.
func (p directoryPlace) Delete(ctx context.Context, keys ...string) error {
	changed := make(map[string]bool) // directories to sync
	var failed error
	for _, key := range keys {
		if failed = cmp.Or(ctx.Err(), CheckKey(key)); failed != nil {
			break
		}
		if failed = p.root.Remove(key); errors.Is(failed, fs.ErrNotExist) {
			failed = nil
			continue
		}
		if failed != nil {
			break
		}
		changed[path.Dir(key)] = true
	}
	for dir := range changed {
		failed = errors.Join(failed, p.sync(dir))
	}
	return failed
}

// Clean implements Place.
func (p directoryPlace) Clean(ctx context.Context) error {
	return p.walk(ctx, func(key string, _ fs.DirEntry) error {
		if !isTemporary(key) {
			return nil
		}
		return p.Delete(ctx, key)
	})
}

// isTemporary reports whether a file does not have its final name yet.
func isTemporary(key string) bool { return strings.HasPrefix(path.Base(key), ".") }

// write returns a function that writes the content, and compares it with its size and digest.
func (c *Content) write(ctx context.Context) func(io.Writer) error {
	return func(w io.Writer) error {
		from, err := c.Open()
		if err != nil {
			return err
		}
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(w, h), untilDone{ctx, from})
		if err := errors.Join(err, from.Close()); err != nil {
			return err
		}
		if n != c.Size || [sha256.Size]byte(h.Sum(nil)) != c.SHA256 {
			return fmt.Errorf("what was read has not the digest that it should have: %w", io.ErrUnexpectedEOF)
		}
		return nil
	}
}

// untilDone reads until ctx ends.
type untilDone struct {
	ctx  context.Context
	from io.Reader
}

func (r untilDone) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(b)
}
