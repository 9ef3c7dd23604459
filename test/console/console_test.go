package console

import (
	"bufio"
	"context"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/server"
)

const project = "../../console"

func TestPages(t *testing.T) {
	s := start(t, nil)
	browse(t, s, s.Endpoint(), "test/*.test.mjs")
}

// A proxy may put a prefix before everything: the page finds its files, the API and the sign-in below it.
func TestPagesBehindProxy(t *testing.T) {
	proxy := httptest.NewUnstartedServer(nil)
	endpoint := "http://" + proxy.Listener.Addr().String() + "/ops/sluice"
	addresses, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *server.Config) { c.Listen, c.PublicURL = addresses[0], endpoint })
	// It passes on paths as they are: clients sign them.
	proxy.Config.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: addresses[0]})
		r.Out.Host = r.In.Host
	}}
	proxy.Start()
	t.Cleanup(proxy.Close)
	browse(t, s, endpoint, "test/access.test.mjs")
}

// browse runs files of the project's tests with the endpoint, and has each of their tests as one here.
func browse(t *testing.T, s *server.Server, endpoint, pattern string) {
	t.Helper()
	node, chromium := installed(t)
	files, err := filepath.Glob(filepath.Join(project, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no files %s: %v", pattern, err)
	}
	for i, file := range files {
		files[i] = strings.TrimPrefix(file, project+"/")
	}
	cmd := exec.CommandContext(t.Context(), node, append([]string{"--test", "--test-concurrency=1", "--test-reporter=tap"}, files...)...)
	cmd.Dir = project
	cmd.Env = append(os.Environ(),
		"SLUICE_CONSOLE_ENDPOINT="+endpoint, "SLUICE_TEST_CHROMIUM="+chromium,
		"NODE_NO_WARNINGS=1", "AWS_ACCESS_KEY_ID="+s.Root().AccessKeyID, "AWS_SECRET_ACCESS_KEY="+s.Root().Secret,
	)
	out, err := cmd.CombinedOutput()
	failed := 0
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); strings.HasPrefix(line, "not ok") {
			failed++
			t.Error(line)
		} else if strings.HasPrefix(line, "ok") {
			t.Log(line)
		}
	}
	if err != nil || failed > 0 {
		t.Errorf("the browser's tests: %v\n%s", err, out)
	}
}

// installed returns where Node.js and Chromium are, or leaves the test out.
func installed(t *testing.T) (node, chromium string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a while")
	}
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
	if change != nil {
		change(&config)
	}
	s, err := server.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}
