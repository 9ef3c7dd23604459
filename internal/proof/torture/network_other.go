//go:build !linux

package torture

import "errors"

func noSpaces() string { return "network namespaces take Linux" }

func newSpaces() (ground, error) { return nil, errors.ErrUnsupported }
