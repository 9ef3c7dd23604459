package command

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/tool/keypair"
)

// checkServe reads the files that a server reads when it starts. It prints the settings with which it would start, or
// all mistakes. The flags were checked before; wrong holds their mistakes. It touches no data and does not listen.
func checkServe(cmd *cobra.Command, c *server.Config, wrong error) error {
	if err := errors.Join(wrong, checkFiles(c)); err != nil {
		return err
	}
	return printSettings(cmd.OutOrStdout(), cmd.Flags())
}

// checkFiles checks the files that flags name.
func checkFiles(c *server.Config) error {
	var wrong []error
	if c.TLSCert != "" && c.TLSKey != "" {
		if _, err := keypair.Open(c.TLSCert, c.TLSKey, slog.New(slog.DiscardHandler)); err != nil {
			wrong = append(wrong, fmt.Errorf("--tls-cert and --tls-key: %w", err))
		}
	}
	if c.OpenID.Issuer != "" && c.OpenID.Validate() == nil {
		_, err := openid.New(c.OpenID)
		wrong = append(wrong, err)
	}
	wrong = append(wrong, c.CheckKeys())
	return errors.Join(wrong...)
}

// printSettings prints all flags with their values as a configuration file: those that are set with their source, the
// others as comments. It omits secrets.
func printSettings(w io.Writer, flags *pflag.FlagSet) error {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == configFile || f.Name == envFile || oneCallOnly(f.Name) {
			return
		}
		by := "the command line"
		if named := f.Annotations[setBy]; named != nil {
			by = named[0]
		}
		switch {
		case !f.Changed && f.Value.String() != "" && f.Value.String() != "[]":
			fmt.Fprintf(&b, "# %s: %s\n", f.Name, yamlValue(f))
		case !f.Changed:
			fmt.Fprintf(&b, "# %s:\n", f.Name)
		case isSecretFlag(f.Name):
			fmt.Fprintf(&b, "# %s: set by %s, not shown\n", f.Name, by)
		default:
			fmt.Fprintf(&b, "%s: %s  # %s\n", f.Name, yamlValue(f), by)
		}
	})
	_, err := io.WriteString(w, b.String())
	return err
}

// isSecretFlag reports whether the value of a flag is itself a secret, not a file with one.
func isSecretFlag(name string) bool { return strings.HasPrefix(name, "root-secret") }

// yamlValue returns the value of a flag as one line of YAML.
func yamlValue(f *pflag.Flag) string {
	if several, ok := f.Value.(pflag.SliceValue); ok {
		var texts []string
		for _, one := range several.GetSlice() {
			texts = append(texts, yamlText(one))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	if kind := f.Value.Type(); kind == "bool" || strings.HasPrefix(kind, "int") {
		return f.Value.String()
	}
	return yamlText(f.Value.String())
}

func yamlText(text string) string {
	out, err := yaml.Dump(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle})
	must(err) // a text has a form in YAML
	return strings.TrimSpace(string(out))
}
