//go:build linux

package packages

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/test/program"
)

// root is the directory of the source, to which the paths of .goreleaser.yaml are relative.
const root = "../.."

// nfpm makes a package by the packaging rules of .goreleaser.yaml, with the program of this test.
type recipe struct {
	file   string // for nfpm
	bindir string
}

// newRecipe writes nfpm's input. Like GoReleaser, it adds the program, names and versions, and fills in dates.
func newRecipe(t *testing.T) recipe {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Name  string           `yaml:"project_name"`
		NFPMs []map[string]any `yaml:"nfpms"`
	}
	const day = "2026-01-02T03:04:05Z"
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(string(text), "{{ .CommitDate }}", day)), &release); err != nil {
		t.Fatal(err)
	}
	if len(release.NFPMs) != 1 {
		t.Fatalf("%d kinds of packages", len(release.NFPMs))
	}
	p := release.NFPMs[0]
	r := recipe{file: filepath.Join(t.TempDir(), "nfpm.yaml"), bindir: p["bindir"].(string)}
	for _, override := range p["overrides"].(map[string]any) {
		o := override.(map[string]any)
		o["depends"] = o["dependencies"] // as nfpm calls it
		delete(o, "dependencies")
	}
	delete(p, "formats")
	delete(p, "bindir")
	p["name"], p["version"], p["arch"], p["platform"] = release.Name, "1.2.3", runtime.GOARCH, "linux"
	p["contents"] = append(p["contents"].([]any), map[string]any{
		"src": program.Build(t), "dst": r.bindir + "/sluice", "file_info": map[string]any{"mode": 0o755, "mtime": day},
	})
	made, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.file, made, 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// make makes a package, and returns its file. It needs the products of a release's hooks.
func (r recipe) make(t *testing.T, format string) string {
	t.Helper()
	pages(t)
	file := filepath.Join(t.TempDir(), "sluice."+format)
	cmd := exec.Command(tool(t, "nfpm"), "package", "--config", r.file, "--packager", format, "--target", file)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("nfpm: %v\n%s", err, out)
	}
	return file
}

// pages runs a release's hooks, which make the manual pages and completions.
func pages(t *testing.T) {
	t.Helper()
	if err := hooks(); err != nil {
		t.Fatal(err)
	}
}

var hooks = sync.OnceValue(func() error {
	for _, name := range []string{"manpages dist/man", "completions dist/completions"} {
		args := strings.Fields("run ./scripts/" + name)
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1767323045")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	return nil
})

// files returns the files of a package except those of single commands, with their modes and owners.
var files = map[string]string{
	"/usr/bin/sluice":                                  "-rwxr-xr-x root root",
	"/usr/lib/systemd/system/sluice.service":           "-rw-r--r-- root root",
	"/usr/lib/systemd/system/sluice.socket":            "-rw-r--r-- root root",
	"/etc/sluice":                                      "drwxr-x--- root sluice",
	"/etc/sluice/sluice.yaml":                          "-rw-r----- root sluice",
	"/etc/sluice/environment":                          "-rw------- root root",
	"/usr/share/man/man1/sluice.1.gz":                  "-rw-r--r-- root root",
	"/usr/share/man/man1/sluice-serve.1.gz":            "-rw-r--r-- root root",
	"/usr/share/bash-completion/completions/sluice":    "-rw-r--r-- root root",
	"/usr/share/zsh/site-functions/_sluice":            "-rw-r--r-- root root",
	"/usr/share/fish/vendor_completions.d/sluice.fish": "-rw-r--r-- root root",
	"/usr/share/doc/sluice/copyright":                  "-rw-r--r-- root root",
}

// A package is installed on this machine, as seen by a process with its own overlay. It installs its files with the
// right permissions; the server runs with its settings, as its user; and the stored data survives the package.
func TestInstall(t *testing.T) {
	for _, format := range []string{"deb", "rpm"} {
		t.Run(format, func(t *testing.T) {
			program.Long(t)
			m := newMachine(t)
			install, remove := map[string]string{
				"deb": "dpkg --no-triggers --install /package",
				"rpm": "rpm --dbpath /rpmdb --nodeps --install /package",
			}[format], map[string]string{
				"deb": "dpkg --no-triggers --remove sluice", "rpm": "rpm --dbpath /rpmdb --erase sluice",
			}[format]
			tool(t, strings.Fields(install)[0])
			r := newRecipe(t)
			file := r.make(t, format)
			if again := r.make(t, format); !bytes.Equal(contents(t, file), contents(t, again)) {
				t.Error("the same files make different packages: releases are not reproducible")
			}
			m.add(t, file, "package")
			m.run(t, install)
			for file, want := range files {
				if got := m.run(t, "stat -c '%A %U %G' "+file); got != want {
					t.Errorf("%s: %s, want %s", file, got, want)
				}
			}
			if got := m.run(t, "getent passwd sluice | cut -d: -f6,7"); got != "/var/lib/sluice:/usr/sbin/nologin" {
				t.Errorf("the user has %s", got)
			}
			m.serve(t)
			m.run(t,
				"echo '# changed' >> /etc/sluice/sluice.yaml && "+remove+
					" && test ! -e /usr/bin/sluice && test ! -e /usr/lib/systemd/system/sluice.service")
			m.run(t, "cat /etc/sluice/sluice.yaml* | grep -q '# changed'")
			if format == "deb" {
				m.run(t, install+" && grep -q '# changed' /etc/sluice/sluice.yaml") // which it uses again
				m.serve(t)
				m.run(t, "dpkg --no-triggers --purge sluice && test ! -e /etc/sluice")
			}
			m.run(t, "test -s /var/lib/sluice/credentials && getent passwd sluice")
		})
	}
}

// A machine is this one, for processes with their own overlay in memory. The changes are gone with the test.
type machine struct {
	root string
	pid  string // of the process whose mounts the others see
}

func newMachine(t *testing.T) machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can install")
	}
	dir := t.TempDir()
	m := machine{root: filepath.Join(dir, "root")}
	// The shell runs until its standard input ends.
	hold := exec.CommandContext(t.Context(), tool(t, "unshare"), "--mount", "sh", "-ec", `
		cd "$0"
		mkdir store root
		mount -t tmpfs tmpfs store
		mkdir store/upper store/work
		mount -t overlay overlay -o lowerdir=/,upperdir=store/upper,workdir=store/work root
		mount -t proc proc root/proc
		mount --rbind /dev root/dev
		echo $$
		read never || true`, dir)
	input, err := hold.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := hold.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	hold.Stderr = &said
	if err := hold.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		_ = hold.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		_ = hold.Wait()
		t.Fatalf("no overlay of this machine: %v\n%s", err, said.String())
	}
	m.pid = strings.TrimSpace(line)
	return m
}

// command returns a command for the machine's shell.
func (m machine) command(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), tool(t, "nsenter"), "--mount", "--target", m.pid, "chroot", m.root, "sh",
		"-ec", script)
}

// run runs a script and returns its output.
func (m machine) run(t *testing.T, script string) string {
	t.Helper()
	out, err := m.command(t, script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// add copies a file to the root of the machine.
func (m machine) add(t *testing.T, file, name string) {
	t.Helper()
	cmd := m.command(t, "cat >/"+name)
	cmd.Stdin = bytes.NewReader(contents(t, file))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// serve runs the server as its unit does until it is ready, and stops it.
func (m machine) serve(t *testing.T) {
	t.Helper()
	// which the machine shares with this one
	address := &net.UnixAddr{Name: fmt.Sprintf("@sluice-%d-%s", os.Getpid(), m.pid), Net: "unixgram"}
	notes, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		t.Fatal(err)
	}
	defer notes.Close()
	start := m.run(t, "sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/sluice.service")
	// The environment that systemd gives the unit: the directory, the user, the notification socket. The port is free
	// here.
	server := m.command(t,
		"install -d -o sluice -g sluice -m 700 /var/lib/sluice; exec setpriv --reuid sluice --regid sluice --clear-groups "+
			"env NOTIFY_SOCKET="+address.Name+" SLUICE_LISTEN=127.0.0.1:0 "+start)
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if err := notes.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	var note [512]byte
	for {
		n, err := notes.Read(note[:])
		if err != nil {
			_ = server.Process.Kill()
			_ = server.Wait()
			t.Fatalf("the server is not ready: %v\n%s", err, log.String())
		}
		if strings.Contains(string(note[:n]), "READY=1") {
			break
		}
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Fatalf("the server ended with %v\n%s", err, log.String())
	}
}
