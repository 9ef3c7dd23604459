package bucket

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
)

// metadataSuffix ends the name of the file next to an object with its metadata, as JSON.
const metadataSuffix = ".metadata"

// Directory is a Store in a directory: its subdirectories are the buckets, and the files below these the objects. An
// object with metadata has a second file, whose name ends in .metadata.
type Directory struct {
	root              *os.Root
	dirMode, fileMode os.FileMode // of what it makes

	mu     sync.Mutex
	synced map[string]bool // directories known to be durable
}

// OpenDirectory opens a directory, which must exist. Close closes it.
func OpenDirectory(dir string) (*Directory, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the directory of buckets: %w", err)
	}
	return &Directory{root: root, dirMode: 0o755, fileMode: 0o644, synced: make(map[string]bool)}, nil
}

// Close closes the directory.
func (d *Directory) Close() error { return d.root.Close() }

// Find implements Store.
func (d *Directory) Find(_ context.Context, bucket string) error {
	if err := CheckName(bucket); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	info, err := d.root.Stat(bucket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the directory of trails has no directory %s", ErrNoBucket, bucket)
	case errors.Is(err, fs.ErrPermission):
		return ErrDenied
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%w: %s is a file", ErrNoBucket, bucket)
	}
	return nil
}

// Put implements Store. It writes the file next to its place and then renames it.
func (d *Directory) Put(ctx context.Context, bucket, key string, o Object) error {
	if err := d.check(ctx, bucket, key); err != nil {
		return err
	}
	name := path.Join(bucket, key)
	if err := d.makeDir(bucket, path.Dir(name)); err != nil {
		return err
	}
	if len(o.Metadata) > 0 {
		text, err := json.Marshal(o.Metadata)
		if err != nil {
			return err
		}
		if err := d.write(name+metadataSuffix, append(text, '\n')); err != nil {
			return err
		}
	}
	if err := d.write(name, o.Body); err != nil {
		return err
	}
	return d.sync(path.Dir(name))
}

// check checks the bucket and the key first.
func (d *Directory) check(ctx context.Context, bucket, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	return d.Find(ctx, bucket)
}

// makeDir creates the directories of a bucket down to dir, durably.
func (d *Directory) makeDir(bucket, dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.synced[dir] {
		if _, err := d.root.Stat(dir); err == nil {
			return nil
		}
		clear(d.synced)
	}
	if err := d.root.MkdirAll(dir, d.dirMode); err != nil {
		return err
	}
	for at := dir; at != bucket; at = path.Dir(at) {
		if err := d.sync(path.Dir(at)); err != nil {
			return err
		}
	}
	if len(d.synced) > 1000 {
		clear(d.synced)
	}
	d.synced[dir] = true
	return nil
}

func (d *Directory) write(name string, body []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}
	return d.writeFile(name, write, d.root.Rename)
}

// writeFile lets write fill a file next to its place, and put rename it.
func (d *Directory) writeFile(name string, write func(io.Writer) error, put func(from, to string) error) (err error) {
	dir, base := path.Split(name)
	temporary := dir + "." + base[max(0, len(base)-100):] + "." + rand.Text()[:8]
	f, err := d.root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, d.fileMode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = d.root.Remove(temporary) // it may have its name already
		}
	}()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return put(temporary, name)
}

// sync makes the names in a directory durable. Windows has no such call.
func (d *Directory) sync(dir string) error {
	if !syncsDirectories {
		return nil
	}
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Get implements Store.
func (d *Directory) Get(ctx context.Context, bucket, key string) (Object, error) {
	if err := d.check(ctx, bucket, key); err != nil {
		return Object{}, err
	}
	name := path.Join(bucket, key)
	body, err := d.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Object{}, ErrNoObject
	}
	o := Object{Body: body}
	if err != nil {
		return o, err
	}
	text, err := d.root.ReadFile(name + metadataSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(text, &o.Metadata); err != nil {
		return o, fmt.Errorf("the metadata of %s cannot be read: %w", key, err)
	}
	return o, nil
}

// List implements Store.
func (d *Directory) List(ctx context.Context, bucket, prefix string) (keys []string, err error) {
	if err := d.Find(ctx, bucket); err != nil {
		return nil, err
	}
	from := path.Dir(bucket + "/" + prefix + "x")
	if from != bucket && !strings.HasPrefix(from, bucket+"/") {
		return nil, errors.New("the prefix leaves the bucket")
	}
	err = fs.WalkDir(d.root.FS(), from, func(name string, e fs.DirEntry, err error) error {
		switch key := strings.TrimPrefix(name, bucket+"/"); {
		case errors.Is(err, fs.ErrNotExist) && name == from:
			return fs.SkipAll
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() || strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(name, metadataSuffix) || !strings.HasPrefix(key, prefix):
		default:
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}
