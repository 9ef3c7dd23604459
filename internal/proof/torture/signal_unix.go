//go:build unix

package torture

import (
	"os/exec"
	"syscall"
)

const terminate = syscall.SIGTERM

// apart keeps signals of the terminal, which are for torture, from the servers.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func pausing(*Config) string { return "" }

func pauseProcess(pid int) error  { return syscall.Kill(pid, syscall.SIGSTOP) }
func resumeProcess(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
