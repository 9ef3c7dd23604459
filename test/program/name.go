//go:build !windows

package program

const name = "sluice"
