package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/keyring"
)

func newRingReseal() *cobra.Command {
	var out output
	var seals sealing
	from := ""
	cmd := &cobra.Command{
		Use:   "reseal FILE",
		Short: "Change which key service seals the keys of a file",
		Long: `Seal all keys of a file again: by another key service, a new version of its key or, without
--encryption-key-url, none. No message is encrypted again.`,
		Example:           `  sluice key reseal /etc/sluice/encryption.keys --from hashivault://old --encryption-key-url hashivault://new`,
		Args:              arguments("FILE"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := keyring.Load(args[0])
			if err != nil {
				return err
			}
			if r, err = reseal(cmd.Context(), r, from, &seals); err != nil {
				return fmt.Errorf("%s: %w", printable(args[0]), err)
			}
			if err := r.Replace(args[0]); err != nil {
				return err
			}
			return out.print(cmd, newRingFile(args[0], r))
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "key service that has sealed the keys (default: none)")
	must(cmd.RegisterFlagCompletionFunc("from", completeKeyServices))
	seals.add(cmd)
	out.add(cmd)
	return cmd
}

// reseal returns a ring that a service has sealed, sealed by another one.
func reseal(ctx context.Context, r *keyring.Ring, from string, seals *sealing) (*keyring.Ring, error) {
	switch {
	case r.Sealed() && from == "":
		return nil, errors.New("a key service has sealed the keys: name it by --from")
	case !r.Sealed() && from != "":
		return nil, errors.New("no key service has sealed the keys: leave --from out")
	case r.Sealed():
		service, err := openKeyService(ctx, "from", from)
		if err != nil {
			return nil, err
		}
		if r, err = r.Unseal(ctx, service); err != nil {
			return nil, err
		}
	}
	return seals.seal(ctx, r)
}
