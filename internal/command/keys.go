package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// keyPair is an access key and its source.
type keyPair struct{ id, secret, token, from string }

// findKeys returns the keys of a profile. Without a profile, it returns those in the environment or of AWS's default
// profile, as AWS's own programs find them.
func findKeys(profile string) (keyPair, error) {
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if profile == "" && id != "" && secret != "" {
		return keyPair{id, secret, os.Getenv("AWS_SESSION_TOKEN"), "AWS_ACCESS_KEY_ID"}, nil
	}
	named := cmp.Or(profile, os.Getenv("AWS_PROFILE"), os.Getenv("AWS_SHARED_CREDENTIALS_FILE")) != ""
	name := cmp.Or(profile, os.Getenv("AWS_PROFILE"), "default")
	file, err := credentialsFile()
	if err != nil {
		return keyPair{}, err
	}
	profiles, err := readProfiles(file)
	switch k, ok := profiles[name]; {
	case ok && k.id != "" && k.secret != "":
		k.from = fmt.Sprintf("the profile %s in %s", name, file)
		return k, nil
	case !named && (err == nil || errors.Is(err, os.ErrNotExist)):
		return keyPair{}, errors.New(
			"there is no access key: paste the lines that sluice serve prints, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile with --profile; " +
				"the keys of the root are in the file credentials in the server's data directory",
		)
	case err != nil:
		return keyPair{}, err
	}
	return keyPair{}, fmt.Errorf("%s has no profile %q with aws_access_key_id and aws_secret_access_key", file, name)
}

// credentialsFile is the file in which AWS's programs keep keys.
func credentialsFile() (string, error) {
	if file := os.Getenv("AWS_SHARED_CREDENTIALS_FILE"); file != "" {
		return file, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("AWS_SHARED_CREDENTIALS_FILE is not set: %w", err)
	}
	return filepath.Join(home, ".aws", "credentials"), nil
}

// readProfiles parses a credentials file: lines [profile] and name = value.
func readProfiles(file string) (map[string]keyPair, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	profiles := make(map[string]keyPair)
	profile := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if inner, ok := strings.CutPrefix(line, "["); ok {
			profile = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		k := profiles[profile]
		switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
		case "aws_access_key_id":
			k.id = value
		case "aws_secret_access_key":
			k.secret = value
		case "aws_session_token":
			k.token = value
		}
		profiles[profile] = k
	}
	return profiles, nil
}

func completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	if file, err := credentialsFile(); err == nil {
		profiles, _ := readProfiles(file) // no file: nothing to complete
		for name := range profiles {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
