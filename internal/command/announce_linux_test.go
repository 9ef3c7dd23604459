package command_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/command"
)

// openTerminal returns the two ends of a terminal: the first reads what the second writes.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	control := func(request uintptr, value *uint32) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request,
			uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	var unlocked, number uint32
	control(syscall.TIOCSPTLCK, &unlocked)
	control(syscall.TIOCGPTN, &number)
	terminal, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return screen, terminal
}

// The secret is shown once: at the terminal of a server's first start. Elsewhere, and later, the lines name its file.
func TestSecretIsForAPerson(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's data")
	printed := func(stdout *os.File, from io.Reader, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			done <- command.Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...),
				strings.NewReader(""), stdout, io.Discard)
		}()
		var text strings.Builder
		b := make([]byte, 4096)
		for end := time.Now().Add(time.Minute); !strings.Contains(text.String(), "AWS_DEFAULT_REGION") &&
			time.Now().Before(end); {
			n, err := from.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b[:n])
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	const secret, link = "AWS_SECRET_ACCESS_KEY=", "/console/#k="
	named := "export AWS_SHARED_CREDENTIALS_FILE='" + strings.ReplaceAll(dir, "'", `'\''`) + "/credentials'"
	screen, terminal := openTerminal(t)
	if text := printed(terminal, screen, "--data", dir); !strings.Contains(text, secret) ||
		!strings.Contains(text, link) {
		t.Errorf("at the first start on a terminal:\n%s", text)
	}
	if text := printed(terminal, screen, "--data", dir); strings.Contains(text, secret) ||
		strings.Contains(text, link) || !strings.Contains(text, named) {
		t.Errorf("at the second start on a terminal:\n%s", text)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if text := printed(write, read, "--data", dir+"2"); strings.Contains(text, secret) ||
		strings.Contains(text, link) || !strings.Contains(text, "/credentials'") {
		t.Errorf("at the first start into a pipe:\n%s", text)
	}
	// Keys that are not stored are always printed, for all accounts.
	if text := printed(write, read, "--in-memory", "--account",
		"000000000000,111111111111"); strings.Count(text, secret) != 2 ||
		!strings.Contains(text, "# account 111111111111: export AWS_ACCESS_KEY_ID=") {
		t.Errorf("in memory:\n%s", text)
	}
	if text := printed(write, read, "--data", dir+"3", "--root-access-key-id", "mine", "--root-secret-access-key",
		"a secret of one's own"); strings.Contains(text, "own") || strings.Contains(text, link) ||
		strings.Contains(text, "credentials") {
		t.Errorf("with the operator's key:\n%s", text)
	}
}
