package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// While a node waits for its cluster it sends clients away, in their own protocol,
// and afterwards serves on the same address.
func TestClientsOfANodeThatWaits(t *testing.T) {
	t.Parallel()
	c := inMemory()
	endpoint := make(chan string, 1)
	found := make(chan bool)
	p := new(pair)
	mine, _ := p.newControls(t)
	fresh := c
	fresh.Data = t.TempDir()
	apitest.Must(t, 0, Initialise(&fresh, mine))
	join := joined(mine)
	c.Join = func(p NodeEnv) (Node, error) {
		p.Waiting("waiting for a majority of the nodes: b, c")
		endpoint <- p.Endpoint()
		<-found
		return join(p)
	}
	serving := make(chan *Server, 1)
	go func() {
		s, err := Start(c)
		if err != nil {
			t.Error(err)
		}
		serving <- s
	}()
	url := <-endpoint
	for _, tc := range []struct {
		method, path, target, want string
		status                     int
	}{
		{"GET", "/healthz", "", "ok, waiting for a majority of the nodes: b, c\n", 200},
		{"GET", "/readyz", "", "waiting for a majority of the nodes: b, c\n", 503},
		{"POST", "/", "AmazonSQS.ListQueues", `"__type":"com.amazon.coral.service#ServiceUnavailableException"`, 503},
		{"GET", "/?Action=ListQueues&Version=2012-11-05", "", "<Code>ServiceUnavailable</Code>", 503},
	} {
		r, err := http.NewRequest(tc.method, url+tc.path, strings.NewReader("{}"))
		apitest.Must(t, r, err)
		if tc.target != "" {
			r.Header.Set("X-Amz-Target", tc.target)
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		}
		answer, err := http.DefaultClient.Do(r)
		apitest.Must(t, answer, err)
		body, err := io.ReadAll(answer.Body)
		apitest.Must(t, 0, errors.Join(err, answer.Body.Close()))
		if answer.StatusCode != tc.status || !strings.Contains(string(body), tc.want) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, answer.StatusCode, body)
		}
	}
	silent, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	apitest.Must(t, silent, err)
	defer silent.Close()
	close(found)
	s := <-serving
	run(t, s)
	if got := s.Endpoint(); got != url {
		t.Errorf("it serves at %s, not at %s", got, url)
	}
	eventually.Succeeds(t, func() error {
		answer, err := http.Get(url + "/readyz")
		if err != nil {
			return err
		}
		apitest.Must(t, 0, answer.Body.Close())
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("/readyz: %s", answer.Status)
		}
		return nil
	})
}
