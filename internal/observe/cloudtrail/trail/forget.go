package trail

import (
	"context"

	"github.com/sluicemq/sluice/internal/control"
)

// forgottenAtOnce is how many events one change removes.
const forgottenAtOnce = 1000

// Forget removes the events of an account that was deleted: its number may become another owner's.
func (t *Trail) Forget(ctx context.Context, account string) error {
	for {
		var gone []string
		err := t.store().Scan([]byte(listOf(account)), []byte(endOfList(account)), func(k, _ []byte) bool {
			_, event := ofList(account, string(k))
			gone = append(gone, string(k), event)
			return len(gone) < 2*forgottenAtOnce
		})
		if err != nil || len(gone) == 0 {
			return err
		}
		if err := t.control.Change(ctx, func(tx *control.Tx) error {
			for _, key := range gone {
				tx.Delete(key)
			}
			return nil
		}); err != nil {
			return err
		}
	}
}
