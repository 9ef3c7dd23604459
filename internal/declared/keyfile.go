package declared

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/durable"
)

// KeyFile is a file for the access keys of users, in the form of AWS's credentials files: a profile for each user. Only
// its owner may read it.
type KeyFile struct{ path string }

// OpenKeyFile checks that keys can be written to a file, which need not exist.
func OpenKeyFile(path string) (*KeyFile, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	case info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/':
		return nil, fmt.Errorf("%s can be read by others: its mode is %04o, want 0600", path, info.Mode().Perm())
	}
	return &KeyFile{path}, nil
}

// Add writes a key, in place of an earlier one of the same user.
func (f *KeyFile) Add(k Key) error {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	var b strings.Builder
	dropping := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "[") {
			dropping = strings.TrimSpace(line) == "["+k.profile()+"]"
		}
		if !dropping {
			b.WriteString(line)
		}
	}
	if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n\n") {
		b.WriteString("\n")
	}
	b.WriteString(k.String())
	return durable.Replace(f.path, []byte(b.String())) // a crash leaves the old or the new contents
}

// profile returns the name of a key's profile: the user, preceded by the account if that is not home.
func (k Key) profile() string {
	if k.Elsewhere {
		return k.Account + "/" + k.UserName
	}
	return k.UserName
}

// String returns the key as a profile of a credentials file.
func (k Key) String() string {
	return fmt.Sprintf(
		"[%s]\naws_access_key_id = %s\naws_secret_access_key = %s\n", k.profile(), k.AccessKeyId, k.SecretAccessKey,
	)
}
