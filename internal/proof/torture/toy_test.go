package torture

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/netns"
	"github.com/sluicemq/sluice/test/program"
)

// The toy is a cluster for the tests of torture: node a is a real server that does everything, and the others forward
// requests to their address for it. The test binary is its program.

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := toy(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(program.Main(m))
}

func toy(args []string) error {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	name := f.String("node", "", "")
	members := f.String("cluster", "", "")
	data := f.String("data", "", "")
	key := f.String("root-access-key-id", "", "")
	secret := f.String("root-secret-access-key", "", "")
	real := f.String("program", "", "of node a")
	listen := f.String("listen", "", "")
	insecure := f.Bool("insecure", false, "")
	f.Bool("no-cool-downs", false, "")      // node a has the option
	f.String("cluster-secret-file", "", "") // the toy's nodes have no secrets from each other
	f.Usage = func() { fmt.Fprintln(os.Stderr, "this has --node and --cluster") }
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	addr := ""
	for member := range strings.SplitSeq(*members, ",") {
		if at, ok := strings.CutPrefix(member, "a="); ok {
			addr = at
		}
	}
	if *name == "a" {
		return becomeServer(*real, "serve", "--data", *data, "--listen", addr, "--no-cool-downs",
			fmt.Sprint("--insecure=", *insecure),
			"--root-access-key-id", *key, "--root-secret-access-key", *secret)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{
				Scheme: "http", Host: addr,
			})
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}
	s := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, terminate)
	go func() { <-stop; s.Close() }()
	fmt.Printf("export AWS_ENDPOINT_URL_SQS=http://%s\n", listener.Addr())
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// becomeServer runs the real server in this process.
func becomeServer(real string, args ...string) error {
	cmd := exec.Command(real, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return replaceBy(cmd)
}

// The toy gets all faults except those that it cannot survive: only node a has data, and no node takes over from it.
func TestToy(t *testing.T) {
	t.Parallel()
	real := build(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := short(t, self, 3, "kill", "kill-all", "restart", "clients", "partition", "latency", "pause")
	if why := pausing(&c); why != "" {
		t.Skip(why) // nor could it become another program
	}
	c.Serve = []string{"--program", real}
	c.Duration, c.Round = 20*time.Second, 20*time.Second
	good(t, torture(t, c))
}

// A partition separates the intended nodes and no others, with either kind of network.
func TestPartition(t *testing.T) {
	real := build(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for ground, why := range map[string]string{"proxies": pausing(nil), "namespaces": netns.Missing()} {
		t.Run(ground, func(t *testing.T) {
			if why != "" {
				t.Skip(why)
			}
			config := short(t, self, 3)
			config.Serve, config.Namespaces = []string{"--program", real}, ground == "namespaces"
			c, err := newCluster(&config, func(n *node, how string) { t.Errorf("%s: %s", n.name, how) })
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.close(); err != nil {
					t.Error(err)
				}
			}()
			if err := c.start(); err != nil {
				t.Fatal(err)
			}
			// A node answers about itself by calling node a.
			asks := func(i int, timeout time.Duration) error {
				return c.nodes[i].ready(t.Context(), &http.Client{
					Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true},
				})
			}
			for _, f := range []*partition{
				{side: []int{1}, others: []int{0, 2}, weather: weather{There: true, Back: true}},
				{side: []int{1}, others: []int{0, 2}, weather: weather{There: true}},
				{side: []int{0}, others: []int{1}, weather: weather{There: true}},
				{side: []int{0}, others: []int{1}, weather: weather{Cut: true}},
			} {
				if err := c.healthy(t.Context(), config.Patience); err != nil {
					t.Fatal(err)
				}
				if err := f.inject(c); err != nil {
					t.Fatal(err)
				}
				if err := asks(1, time.Second); err == nil {
					t.Errorf("%s: b hears a", f)
				}
				if err := asks(2, time.Minute); err != nil {
					t.Errorf("%s: c does not hear a: %v", f, err)
				}
				if err := f.heal(c); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.healthy(t.Context(), config.Patience); err != nil {
				t.Error(err)
			}
		})
	}
}
