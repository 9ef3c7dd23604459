//go:build !windows

package bucket

const syncsDirectories = true
