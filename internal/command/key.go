package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/keyring/keyservice"
)

func newRing() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Manage the keys that encrypt messages at rest",
		Long: `Create, list, rotate and retire the keys in the file of sluice serve
--encryption-key-file. A running server reads the file at its next start.

Keep a copy of the file away from the data: without it the messages are lost, and with
it they can be read, unless a key service has sealed its keys.`,
	}
	cmd.AddCommand(newRingCreate(), newRingList(), newRingRotate(), newRingRetire(), newRingReseal())
	return cmd
}

// sealing is the flag with the key service that seals the keys of a file.
type sealing struct{ url string }

func (s *sealing) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.url, "encryption-key-url", "",
		"key service that seals the keys, as for sluice serve")
	must(cmd.RegisterFlagCompletionFunc("encryption-key-url", completeKeyServices))
}

// seal seals the keys that are not sealed, if there is a key service.
func (s *sealing) seal(ctx context.Context, r *keyring.Ring) (*keyring.Ring, error) {
	if s.url == "" {
		return r, nil
	}
	service, err := openKeyService(ctx, "encryption-key-url", s.url)
	if err != nil {
		return nil, err
	}
	return r.Seal(ctx, service)
}

// openKeyService opens the key service that a flag names.
func openKeyService(ctx context.Context, flag, url string) (keyring.Service, error) {
	service, err := keyservice.Open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return service, nil
}

// completeKeyServices completes the schemes of key services.
func completeKeyServices(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"awskms://", "azurekeyvault://", "gcpkms://projects/", "hashivault://"},
		cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func newRingCreate() *cobra.Command {
	var out output
	var seals sealing
	cmd := &cobra.Command{
		Use:   "create FILE",
		Short: "Create a file with a key",
		Long: `Create a file, which must not exist, with a key. A single server creates its file itself.
All nodes of a cluster need the same file: create it once, and copy it to each.`,
		Example:           `  sluice key create /etc/sluice/encryption.keys --encryption-key-url hashivault://sluice`,
		Args:              arguments("FILE"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := seals.seal(cmd.Context(), keyring.New(time.Now()))
			if err != nil {
				return err
			}
			if err := r.Create(args[0]); err != nil {
				return err
			}
			return out.print(cmd, newRingFile(args[0], r))
		},
	}
	out.add(cmd)
	seals.add(cmd)
	return cmd
}

func newRingList() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:               "ls FILE",
		Short:             "List the keys of a file",
		Long:              `List the keys of a file by their ids, which KmsMasterKeyId of a queue may name. No key is shown.`,
		Example:           `  sluice key ls /etc/sluice/encryption.keys`,
		Args:              arguments("FILE"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := keyring.Load(args[0])
			if err != nil {
				return err
			}
			return out.print(cmd, newRingFile(args[0], r))
		},
	}
	out.add(cmd)
	return cmd
}

func newRingRotate() *cobra.Command {
	var out output
	var seals sealing
	prepare := false
	cmd := &cobra.Command{
		Use:   "rotate FILE",
		Short: "Create a new key that encrypts",
		Long: `Create a new key, which encrypts from the server's next start. Earlier keys stay in
the file, and decrypt. Copy the file afterwards.

In a cluster, first add the new key with --prepare, copy the file to all nodes, and
restart one after the other. Then rotate, which takes the prepared key, copy the file
and restart the nodes again.`,
		Example: `  sluice key rotate /etc/sluice/encryption.keys
  sluice key rotate --prepare /etc/sluice/encryption.keys`,
		Args:              arguments("FILE"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := keyring.Load(args[0])
			if err != nil {
				return err
			}
			change := r.Rotate
			if prepare {
				change = r.Prepare
			}
			if r, err = change(time.Now()); err != nil {
				return err
			}
			if r, err = seals.seal(cmd.Context(), r); err != nil {
				return err
			}
			if err := r.Replace(args[0]); err != nil {
				return err
			}
			return out.print(cmd, newRingFile(args[0], r))
		},
	}
	cmd.Flags().BoolVar(&prepare, "prepare", false, "add a key that encrypts after the next rotation")
	out.add(cmd)
	seals.add(cmd)
	return cmd
}

// ringFile is the answer of the commands: the contents of a file.
type ringFile struct {
	File   string
	Sealed bool // by a key service
	Keys   []keyLine
}

// keyLine is a key of a file, without its value.
type keyLine struct {
	ID   string
	Made time.Time
	Use  string // encrypts, decrypts or prepared
}

func newRingFile(path string, r *keyring.Ring) *ringFile {
	f := &ringFile{File: path, Sealed: r.Sealed()}
	for i, k := range r.Keys() {
		line := keyLine{ID: k.ID(), Made: k.Made(), Use: "decrypts"}
		switch {
		case i == 0:
			line.Use = "encrypts"
		case k.Made().After(r.First().Made()):
			line.Use = "prepared"
		}
		f.Keys = append(f.Keys, line)
	}
	return f
}

func (f *ringFile) text(w io.Writer) error {
	sealed := ""
	if f.Sealed {
		sealed = ", sealed by a key service"
	}
	fmt.Fprintf(w, "%s%s:\n", printable(f.File), sealed)
	rows := make([][]string, 0, len(f.Keys))
	for _, k := range f.Keys {
		rows = append(rows, []string{k.ID, k.Made.Format(time.DateTime), k.Use})
	}
	return printTable(w, []string{"KEY", "MADE (UTC)", "USE"}, rows)
}
