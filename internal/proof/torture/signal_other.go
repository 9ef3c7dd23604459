//go:build !unix

package torture

import (
	"errors"
	"os"
	"os/exec"
)

var terminate = os.Interrupt

func apart(*exec.Cmd) {}

func pausing(*Config) string { return "this system cannot stop a process for a while" }

func pauseProcess(int) error  { return errors.ErrUnsupported }
func resumeProcess(int) error { return errors.ErrUnsupported }
