package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// health is a server's answer at /readyz or /healthz.
type health struct {
	Endpoint string
	Well     bool
	Says     string
}

func (h health) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, h.Says)
	return err
}

// maxHealth limits how much of an answer is read, in bytes.
const maxHealth = 4 << 10

func newHealth() *cobra.Command {
	var server clientFlags
	var out output
	live, timeout := false, 10*time.Second
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a server whether it is ready",
		Long: `Ask a server, without keys, whether it is ready, that is, whether a write becomes
durable. With --live, ask only whether the process is alive: a restart does not help a
server whose disk is full.

The exit status is 0 if it is, 1 if it is not, and 2 if the server does not answer. Of
several endpoints the first that answers counts.`,
		Example: `  sluice health
  sluice health --live --endpoint https://sluice.example:9324`,
		Args: noArguments,
		RunE: asked(func(cmd *cobra.Command, _ []string) error {
			path := "/readyz"
			if live {
				path = "/healthz"
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			answer, err := server.health(ctx, path)
			if err != nil {
				return err
			}
			if err := out.print(cmd, answer); err != nil {
				return err
			}
			if !answer.Well {
				return newVerdict("not well")
			}
			return nil
		}),
	}
	section(cmd.Flags(), "Question", func(f *pflag.FlagSet) {
		f.BoolVar(&live, "live", false, "ask only whether the process is alive")
		f.DurationVar(&timeout, "timeout", timeout, "how long to wait for the answer")
	})
	server.addEndpoint(cmd, "SLUICE")
	out.add(cmd)
	return cmd
}

// health asks the endpoints in turn until one answers.
func (s *clientFlags) health(ctx context.Context, path string) (health, error) {
	endpoints, err := s.resolve()
	if err != nil {
		return health{}, usage(err)
	}
	client, err := s.httpClient()
	if err != nil {
		return health{}, err
	}
	var failed error
	for _, e := range endpoints {
		h, err := askHealth(ctx, client, e.url+path)
		if err == nil {
			h.Endpoint = e.url
			return h, nil
		}
		failed = errors.Join(failed, fmt.Errorf("%v: %w", e, err))
	}
	return health{}, failed
}

func askHealth(ctx context.Context, client *http.Client, url string) (health, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return health{}, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return health{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxHealth))
	if err != nil {
		return health{}, err
	}
	switch answer.StatusCode {
	case http.StatusOK, http.StatusServiceUnavailable:
		return health{Well: answer.StatusCode == http.StatusOK, Says: strings.TrimSpace(string(text))}, nil
	}
	return health{}, fmt.Errorf("it answers %s: is that a Sluice server?", answer.Status)
}
