package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/keyring"
)

func newRingRetire() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "retire FILE KEY",
		Short: "Remove an old key when no message needs it",
		Long: `Remove an old key from a file when no message needs it. The running server stops
encrypting under the key. After five minutes, and then hourly, it searches a snapshot for
messages that need it. Repeat the command until it removes the key.

Earlier backups need the key: keep a copy of the old file for them.

Needs sluice:RetireKey in the first account.`,
		Example: `  sluice key retire /etc/sluice/encryption.keys 3f2504e0-4f89-81d3-9a0c-0305e82c3301`,
		Args:    arguments("FILE", "KEY"),
		ValidArgsFunction: func(
			_ *cobra.Command, args []string, _ string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return completeKeys(args[0])
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	server.add(cmd, "SLUICE")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		file, id := c.args[0], c.args[1]
		ring, err := keyring.Load(file)
		if err != nil {
			return nil, err
		}
		without, err := ring.Remove(id)
		if err != nil {
			return nil, err
		}
		out := &retiredKey{File: file}
		if err := c.sluice(ctx, "RetireKey", map[string]string{"KeyId": id}, &out.RetiredKey); err != nil {
			return nil, err
		}
		if out.Removable {
			err = without.Replace(file)
		}
		return answerOr(out, err)
	})
}

// completeKeys completes the ids of the keys of a file that only decrypt.
func completeKeys(file string) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
	if ring, err := keyring.Load(file); err == nil {
		for _, k := range ring.Keys() {
			if _, err := ring.Remove(k.ID()); err == nil {
				ids = append(ids, k.ID())
			}
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// retiredKey is the answer of key retire.
type retiredKey struct {
	File string
	admin.RetiredKey
}

func (r *retiredKey) text(w io.Writer) (err error) {
	switch {
	case r.Removable:
		_, err = fmt.Fprintf(w, "removed the key %s from %s: no message needs it\n", r.KeyId, printable(r.File))
	case r.CheckedTimestamp == nil:
		_, err = fmt.Fprintf(w, "the key %s is retired; call again later, when the server has looked for messages that need it\n", r.KeyId)
	default:
		at := time.UnixMilli(*r.CheckedTimestamp).UTC().Format(time.DateTime)
		_, err = fmt.Fprintf(w, "the key %s is retired; records that needed it at %s (UTC): %d\n", r.KeyId, at, r.NeededBy)
	}
	return err
}
