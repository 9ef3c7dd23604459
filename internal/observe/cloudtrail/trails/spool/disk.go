package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// disk stores segments. Its methods are safe for concurrent use.
type disk interface {
	// list returns the sizes of all files.
	list() (map[string]int, error)
	// write writes text at an offset of a file, which it creates if there is none. After an error any part of the text
	// may have been written.
	write(name string, text []byte, offset int) error
	// read returns the text of a file. Its error is or wraps fs.ErrNotExist if there is none.
	read(name string) ([]byte, error)
	// remove removes a file. Its error is or wraps fs.ErrNotExist if there is none.
	remove(name string) error
}

// directory is a disk in a directory, which the first write creates.
type directory string

func (d directory) list() (map[string]int, error) {
	files, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	sizes := make(map[string]int)
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			sizes[f.Name()] = int(info.Size())
		}
	}
	return sizes, nil
}

func (d directory) write(name string, text []byte, offset int) error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(string(d), name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, int64(offset))
	return errors.Join(err, f.Close())
}

func (d directory) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(d), name))
}

func (d directory) remove(name string) error { return os.Remove(filepath.Join(string(d), name)) }

// memory is the disk of a server that stores everything in memory.
type memory struct {
	mu    sync.Mutex
	files map[string][]byte
}

func newMemory() *memory { return &memory{files: make(map[string][]byte)} }

func (m *memory) list() (map[string]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sizes := make(map[string]int, len(m.files))
	for name, text := range m.files {
		sizes[name] = len(text)
	}
	return sizes, nil
}

func (m *memory) write(name string, text []byte, offset int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = append(m.files[name][:offset], text...)
	return nil
}

func (m *memory) read(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(text), nil
}

func (m *memory) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
	return nil
}
