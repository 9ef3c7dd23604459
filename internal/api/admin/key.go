package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/encryption"
)

// KeyInUse reports that a key cannot be retired because messages are or will be encrypted under it.
type KeyInUse struct{ Reason string }

func (e *KeyInUse) Error() string { return e.Reason }

type retireKeyInput struct {
	KeyId string `max:"64"`
}

// RetiredKey is a key that encrypts no messages any more.
type RetiredKey struct {
	KeyId            string
	RetiredTimestamp int64  // milliseconds, as all
	CheckedTimestamp *int64 // when the server last looked for records that need it; nil: not yet
	NeededBy         int64  // how many there were
	Removable        bool   // no message or edit needs it: files of keys may omit it
}

// retireKey stops the encryption of messages with a key. A repeated call succeeds, too, and returns the state at that
// time.
func (s *Service) retireKey(ctx context.Context, c *protocol.Call, in *retireKeyInput) (*RetiredKey, error) {
	c.Notes.Set("keyId", in.KeyId)
	if err := s.allow(c); err != nil {
		return nil, err
	}
	k, err := s.retire(ctx, in.KeyId)
	used, isUsed := errors.AsType[*KeyInUse](err)
	switch {
	case isUsed:
		return nil, refusal("KeyInUse", http.StatusConflict, "The key cannot be retired: %s.", used.Reason)
	case errors.Is(err, encryption.ErrUnknownKey):
		return nil, refusal(
			"NoSuchKey", http.StatusNotFound, "No message was ever encrypted under the key %s.",
			service.Shorten(in.KeyId),
		)
	case err != nil:
		return nil, failure(err)
	}
	out := &RetiredKey{KeyId: k.ID, RetiredTimestamp: k.Since.UnixMilli(), NeededBy: k.Needed, Removable: k.Gone}
	if !k.Checked.IsZero() {
		out.CheckedTimestamp = new(k.Checked.UnixMilli())
	}
	return out, nil
}
