// Completions writes the files with which shells complete the commands of sluice into a directory:
//
//	go run ./scripts/completions DIR
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/command"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/completions DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "completions:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := command.Tree()
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(dir, "sluice.bash"), true),
		root.GenZshCompletionFile(filepath.Join(dir, "_sluice")),
		root.GenFishCompletionFile(filepath.Join(dir, "sluice.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(dir, "sluice.ps1")),
	)
}
