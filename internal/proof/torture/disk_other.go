//go:build !linux

package torture

import "errors"

func ownDisks(*Config) string { return "giving each node a disk of its own takes Linux" }

func slowDisks(c *Config) string { return ownDisks(c) }

type disk struct{ dir string }

func newDisk(string) (*disk, error) { return nil, errors.ErrUnsupported }

func (*disk) remove() error { return errors.ErrUnsupported }

func (*disk) losePower() error { return errors.ErrUnsupported }

func hog(string) (func() error, error) { return nil, errors.ErrUnsupported }

func limitWrites(string, string, int) (func(int) error, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}
