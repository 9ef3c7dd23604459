package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/aws/signature"
)

// endpoint is the URL of a server, and its source.
type endpoint struct{ url, from string }

func (e endpoint) String() string { return fmt.Sprintf("%s (from %s)", e.url, e.from) }

const defaultEndpoint = "http://127.0.0.1:9324"

// clientFlags select the server that a command calls, and the keys that it uses.
type clientFlags struct {
	service   string // whose operations a command calls: IAM, SQS or SLUICE
	endpoints []string
	from      string // the flag that gave the endpoints, if it is not --endpoint
	ca        string
	region    string
	profile   string
	flags     *pflag.FlagSet
}

// add declares the flags for a command and those below it.
func (s *clientFlags) add(cmd *cobra.Command, service string) {
	s.addEndpoint(cmd, service)
	section(s.flags, "Server", func(f *pflag.FlagSet) {
		f.StringVar(&s.region, "region", "",
			"region of the request (default: AWS_REGION, else AWS_DEFAULT_REGION, else us-east-1)")
		f.StringVar(
			&s.profile,
			"profile",
			"",
			"profile of the credentials file to take the keys from (default: those in AWS_ACCESS_KEY_ID and "+
				"AWS_SECRET_ACCESS_KEY, else the profile AWS_PROFILE)",
		)
	})
	must(cmd.RegisterFlagCompletionFunc("profile", completeProfiles))
}

// addOwn declares the flags for a command that calls the server while those below it do not.
func (s *clientFlags) addOwn(cmd *cobra.Command, service string) {
	s.add(new(cobra.Command), service)
	s.flags.SortFlags = false // the help has them in this order
	cmd.Flags().AddFlagSet(s.flags)
}

// addEndpoint declares the flags of a command without keys.
func (s *clientFlags) addEndpoint(cmd *cobra.Command, service string) {
	s.service, s.flags = service, cmd.PersistentFlags()
	section(s.flags, "Server", func(f *pflag.FlagSet) {
		f.StringSliceVar(
			&s.endpoints,
			"endpoint",
			nil,
			"URL of the server; of several, separated by commas, the first that can be reached (default: "+strings.Join(
				s.variables(),
				", else ",
			)+", else "+defaultEndpoint+")",
		)
		f.StringVar(
			&s.ca,
			"ca",
			"",
			"file with the certificates of the authorities to trust, PEM (default: AWS_CA_BUNDLE, else the system's)",
		)
		filePath(f, "ca")
	})
}

// variables are the variables with the server's URL; the first one that is set counts.
func (s *clientFlags) variables() []string {
	names := []string{"AWS_ENDPOINT_URL_" + s.service, "AWS_ENDPOINT_URL"}
	if s.service != "SQS" {
		names = append(names, "AWS_ENDPOINT_URL_SQS")
	}
	return names
}

// client returns a client for the server that the flags and the environment name.
func (s *clientFlags) client() (*client, error) {
	endpoints, err := s.resolve()
	if err != nil {
		return nil, usage(err)
	}
	plain, err := s.httpClient()
	if err != nil {
		return nil, err
	}
	keys, err := findKeys(s.profile)
	if err != nil {
		return nil, err
	}
	return &client{
		endpoints: endpoints,
		keys:      keys.from,
		signer: signature.Signer{
			AccessKeyID: keys.id, Secret: keys.secret, Token: keys.token,
			Region: cmp.Or(s.region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1"),
		},
		http: plain,
	}, nil
}

// httpClient returns the HTTP client for the server.
func (s *clientFlags) httpClient() (*http.Client, error) {
	roots, err := s.trusted()
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport:     newTransport(roots),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// dialTimeout is how long the command waits for a connection to an endpoint before it tries the next one.
const dialTimeout = 5 * time.Second

func newTransport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
	}
}

// resolve returns the endpoints to try, in order.
func (s *clientFlags) resolve() ([]endpoint, error) {
	if len(s.endpoints) > 0 {
		if s.from != "" {
			return parseEndpoints(s.endpoints, s.from)
		}
		from := "--endpoint"
		if name := s.flags.Lookup("endpoint").Annotations[setBy]; name != nil {
			from = name[0]
		}
		return parseEndpoints(s.endpoints, from)
	}
	for _, name := range s.variables() {
		if value := os.Getenv(name); value != "" {
			return parseEndpoints(strings.Split(value, ","), name)
		}
	}
	return []endpoint{{defaultEndpoint, "the default"}}, nil
}

func parseEndpoints(texts []string, from string) ([]endpoint, error) {
	var out []endpoint
	for _, text := range texts {
		parsed, err := parseEndpoint(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", from, text, err)
		}
		out = append(out, endpoint{parsed, from})
	}
	return out, nil
}

// parseEndpoint returns a URL without a trailing slash. A host of this machine may come without a scheme.
func parseEndpoint(text string) (string, error) {
	if !strings.Contains(text, "://") {
		host, _, err := net.SplitHostPort(text)
		if err != nil || host != "localhost" && !net.ParseIP(host).IsLoopback() {
			return "", fmt.Errorf("want a URL, such as https://sluice.example:9324")
		}
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("want a URL with http or https and a host, such as https://sluice.example:9324")
	}
	return strings.TrimRight(text, "/"), nil
}

// trusted returns the accepted certificate authorities; nil means the system's.
func (s *clientFlags) trusted() (*x509.CertPool, error) {
	file, from := s.ca, "--ca"
	if file == "" {
		file, from = os.Getenv("AWS_CA_BUNDLE"), "AWS_CA_BUNDLE"
	}
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: %s has no certificate in PEM form", from, file)
	}
	return pool, nil
}

// completionTimeout is how long a shell waits for names from a server.
const completionTimeout = 2 * time.Second

// completeNames returns a function that completes the first argument with names from a server. Without an answer, it
// completes nothing.
func (s *clientFlags) completeNames(list func(context.Context, *client) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.ask(cmd, list)
	}
}

func (s *clientFlags) ask(
	cmd *cobra.Command,
	list func(context.Context, *client) ([]string, error),
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if applySettings(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a, err := s.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	names, err := list(ctx, a)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
