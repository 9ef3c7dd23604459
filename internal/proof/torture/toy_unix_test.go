//go:build unix

package torture

import (
	"os"
	"os/exec"
	"syscall"
)

func replaceBy(cmd *exec.Cmd) error { return syscall.Exec(cmd.Path, cmd.Args, os.Environ()) }
