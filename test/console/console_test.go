package console

import (
	"bufio"
	"context"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
	"github.com/sluicemq/sluice/test/program"
)

const project = "../../console"

// said marks the output of a test in the browser that is for readers.
const said = "# says: "

func TestPages(t *testing.T) {
	s := start(t, nil)
	browse(t, s, s.Endpoint(), "test/*.test.mjs")
}

// A proxy may add a prefix to all paths: the page finds its files, the API and the sign-in below it.
func TestPagesBehindProxy(t *testing.T) {
	proxy := httptest.NewUnstartedServer(nil)
	endpoint := "http://" + proxy.Listener.Addr().String() + "/ops/sluice"
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	behind := listener.Addr().String()
	s := start(t, func(c *server.Config) { c.Listener, c.Listen, c.PublicURL = listener, behind, endpoint })
	// The proxy passes on paths unchanged, because clients sign them.
	proxy.Config.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: behind})
		r.Out.Host = r.In.Host
	}}
	proxy.Start()
	t.Cleanup(proxy.Close)
	browse(t, s, endpoint, "test/access.test.mjs")
}

// browse runs files of the project's tests with the endpoint and further environment variables, each as a separate
// test.
func browse(t *testing.T, s *server.Server, endpoint, pattern string, env ...string) {
	t.Helper()
	node, chromium := installed(t)
	files, err := filepath.Glob(filepath.Join(project, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no files %s: %v", pattern, err)
	}
	env = append(env,
		"SLUICE_CONSOLE_ENDPOINT="+endpoint, "SLUICE_TEST_CHROMIUM="+chromium,
		"NODE_NO_WARNINGS=1", "AWS_ACCESS_KEY_ID="+s.Root().AccessKeyID, "AWS_SECRET_ACCESS_KEY="+s.Root().Secret,
	)
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(name, func(t *testing.T) { run(t, node, strings.TrimPrefix(file, project+"/"), env) })
	}
}

// run runs a file of the project's tests. Their result and output become this test's.
func run(t *testing.T, node, file string, env []string) {
	t.Helper()
	ctx := t.Context()
	// the output of the tests so far is more useful than a dump of this program
	if deadline, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-time.Minute))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, node, "--test", "--test-reporter=tap", file)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Dir = project
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	failed := 0
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "not ok"):
			failed++
			t.Error(line)
		case strings.HasPrefix(line, "ok"), strings.HasPrefix(line, said):
			t.Log(strings.TrimPrefix(line, said))
		}
	}
	if err != nil || failed > 0 {
		t.Errorf("the browser's tests: %v\n%s", err, out)
	}
}

// installed returns the paths of Node.js and Chromium, or skips the test.
func installed(t *testing.T) (node, chromium string) {
	t.Helper()
	program.Long(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: scripts/dev install gets it")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if chromium, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		t.Skip("chromium is not installed: scripts/dev install gets it")
	}
	if _, err := os.Stat(filepath.Join(project, "node_modules", "playwright-core")); err != nil {
		t.Skip("run npm ci in console first, or scripts/dev install")
	}
	return node, chromium
}

// start starts a server and returns it.
func start(t *testing.T, change func(*server.Config)) *server.Server {
	t.Helper()
	config := server.Default()
	config.InMemory, config.Listen, config.NoCoolDowns = true, "127.0.0.1:0", true
	config.Mail.Server, config.Mail.From = startRelay(t), "sluice@example.com"
	if change != nil {
		change(&config)
	}
	s, _ := servertest.Start(t, config)
	return s
}
