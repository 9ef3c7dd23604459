package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sluicemq/sluice/internal/server"
)

// documentation is the URL of the documentation.
const documentation = "https://github.com/sluicemq/sluice#readme"

// announce prints where the server is and how to use it.
func announce(stdout io.Writer, log *slog.Logger, c *server.Config, s *server.Server) {
	about := []any{
		"endpoint", s.Endpoint(), "version", c.Version, "region", c.Region, "accounts", strings.Join(s.Accounts(), ","),
		"queues", s.Queues(), "docs", documentation,
	}
	if c.InMemory {
		log.Warn("serving from memory: NOTHING IS KEPT, all queues and messages are gone when the server stops", about...)
	} else {
		log.Info("serving", append(about, "data", c.Data)...)
	}
	if c.NoCoolDowns {
		log.Warn(
			"queues can be purged again, and created under the name of a deleted one, without waiting 60 seconds: " +
				"that is for tests",
		)
	}
	for _, service := range []string{"SQS", "SNS", "CLOUDWATCH", "CLOUDTRAIL", "IAM", "STS"} {
		fmt.Fprintf(stdout, "export AWS_ENDPOINT_URL_%s=%s\n", service, s.Endpoint())
	}
	printLink(stdout, log, c, s)
	printKeys(stdout, c, s)
	fmt.Fprintf(stdout, "export AWS_REGION=%s\n", c.Region)
	fmt.Fprintf(stdout, "export AWS_DEFAULT_REGION=%s\n", c.Region) // Python and the AWS CLI of version 1
}

// printKeys prints which keys to use. It prints a new secret only to a terminal, where a person reads it. Other output
// ends in logs: there the lines name the file with the secret. A server that stores nothing has no file. A key that the
// operator has chosen is never printed.
func printKeys(stdout io.Writer, c *server.Config, s *server.Server) {
	if c.InMemory {
		for i, account := range c.Accounts {
			key, _ := s.RootOf(account)
			switch {
			case i > 0:
				fmt.Fprintf(
					stdout,
					"# account %s: export AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s\n",
					account,
					key.AccessKeyID,
					key.Secret,
				)
			case c.RootKeyID == "":
				printSecret(stdout, key.AccessKeyID, key.Secret)
			}
		}
		return
	}
	if c.RootKeyID != "" {
		return
	}
	if s.HasNewRoot() && isTerminal(stdout) {
		key := s.Root()
		printSecret(stdout, key.AccessKeyID, key.Secret)
		return
	}
	file := filepath.Join(c.Data, server.CredentialsFile)
	if whole, err := filepath.Abs(file); err == nil {
		file = whole
	}
	fmt.Fprintf(stdout, "export AWS_SHARED_CREDENTIALS_FILE=%s\n", quoted(file))
	fmt.Fprintf(stdout, "export AWS_PROFILE=%s\n", c.Accounts[0])
}

// printLink prints a link that signs a person in to the console, in the cases in which printKeys prints the secret of a
// new key.
func printLink(stdout io.Writer, log *slog.Logger, c *server.Config, s *server.Server) {
	fresh := c.InMemory || s.HasNewRoot() && isTerminal(stdout)
	if !c.Console.Serve || !fresh || c.RootKeyID != "" {
		return
	}
	link, err := s.SignInLink(context.Background())
	if err != nil {
		log.Warn("there is no link to the console; create one with: sluice console", "error", err)
		return
	}
	fmt.Fprintf(stdout, "# console, for ten minutes: %s\n", link)
}

func printSecret(stdout io.Writer, id, secret string) {
	fmt.Fprintf(stdout, "export AWS_ACCESS_KEY_ID=%s\n", id)
	fmt.Fprintf(stdout, "export AWS_SECRET_ACCESS_KEY=%s\n", secret)
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// quoted quotes a word for a shell.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
