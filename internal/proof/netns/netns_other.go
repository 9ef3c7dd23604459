//go:build !linux

package netns

import "errors"

// Missing explains what the process lacks for namespaces.
func Missing() string { return "network namespaces take Linux" }

// Bridge is the network between spaces.
type Bridge struct{}

// New returns an error.
func New() (*Bridge, error) { return nil, errors.ErrUnsupported }

// Add returns an error.
func (*Bridge) Add(string) (Space, error) { return Space{}, errors.ErrUnsupported }

// Close does nothing.
func (*Bridge) Close() error { return nil }

// Set returns an error.
func Set(Space, Space, Fate) error { return errors.ErrUnsupported }
