package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	js "github.com/nats-io/nats.go/jetstream"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// Subjects of JetStream's API. Each takes the name of a stream.
const (
	apiInfo      = "$JS.API.STREAM.INFO."
	apiPurge     = "$JS.API.STREAM.PURGE."
	apiGet       = "$JS.API.STREAM.MSG.GET."
	apiDelete    = "$JS.API.STREAM.MSG.DELETE."
	apiStepDown  = "$JS.API.STREAM.LEADER.STEPDOWN."
	apiDirectGet = "$JS.API.DIRECT.GET."
)

// createStream creates a stream if necessary, and ensures that it has at least the requested number of replicas and
// memory. It retries until ctx ends: a cluster that starts has no leader to create it.
func (c *Conn) createStream(ctx context.Context, config js.StreamConfig) error {
	for {
		err := c.tryCreateStream(ctx, config)
		if err == nil {
			return nil
		}
		if api, ok := errors.AsType[*js.APIError](err); ok && api.Code < 500 &&
			!isCode(err, codeNoPeers, codeStreamNotFound) {
			return fmt.Errorf("create stream %s: %w", config.Name, err)
		}
		if wait.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("create stream %s: %w: %w", config.Name, ctx.Err(), err)
		}
	}
}

func (c *Conn) tryCreateStream(ctx context.Context, config js.StreamConfig) error {
	// The leader of an existing stream reports it, even while the meta group has no leader.
	info, err := c.info(ctx, config.Name)
	if isCode(err, codeStreamNotFound) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if _, err = c.js.CreateStream(ctx, config); err == nil || !errors.Is(err, js.ErrStreamNameAlreadyInUse) {
			return err
		}
		info, err = c.info(ctx, config.Name) // another node was faster
	}
	if err != nil {
		return err
	}
	if why := unfit(&info.Config, &config); why != "" {
		return &js.APIError{Code: 400, Description: "the stream is there, and " + why}
	}
	if info.Config.Replicas < config.Replicas || info.Config.MaxAge < config.MaxAge {
		grown := info.Config
		grown.Replicas, grown.MaxAge = max(grown.Replicas, config.Replicas), max(grown.MaxAge, config.MaxAge)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, err = c.js.UpdateStream(ctx, grown)
	}
	return err
}

// unfit returns why an existing stream cannot be used instead of one with the configuration want, or "". An operator,
// or another user of the NATS account, may have created or changed it. They may set limits that refuse new messages,
// but not limits that remove old ones.
func unfit(is, want *js.StreamConfig) string {
	limited := is.MaxMsgs > 0 || is.MaxBytes > 0
	switch {
	case is.PersistMode != js.DefaultPersistMode || is.Storage != js.FileStorage:
		return "does not keep its messages on stable storage"
	case is.Retention != want.Retention, limited && is.Discard != js.DiscardNew,
		max(is.MaxMsgsPerSubject, 0) != max(want.MaxMsgsPerSubject, 0), (is.MaxAge > 0) != (want.MaxAge > 0):
		return "forgets messages by other rules than Sluice's: see its retention, discard, max_age, max_msgs, max_bytes and max_msgs_per_subject"
	case !slices.Equal(is.Subjects, want.Subjects), is.Mirror != nil, len(is.Sources) > 0, is.SubjectTransform != nil:
		return "takes other messages than Sluice's: see its subjects, mirror, sources and subject_transform"
	case is.Sealed, is.NoAck, is.DenyPurge, is.DenyDelete && !want.DenyDelete, !is.AllowDirect,
		is.MaxMsgSize > 0 && (want.MaxMsgSize <= 0 || is.MaxMsgSize < want.MaxMsgSize):
		return "refuses operations that Sluice needs: see its sealed, no_ack, deny_purge, deny_delete, allow_direct and max_msg_size"
	}
	return ""
}

// info asks the leader of a stream about it, once.
func (c *Conn) info(ctx context.Context, stream string) (*js.StreamInfo, error) {
	var info js.StreamInfo
	if err := c.ask(ctx, apiInfo+stream, struct{}{}, &info); err != nil {
		return nil, err
	}
	return &info, nil
}

// copies returns the number of complete and present replicas of a stream, according to its leader, and the number that
// it should have. It asks once.
func (c *Conn) copies(ctx context.Context, stream string) (current, wanted int, err error) {
	var info js.StreamInfo
	if err := c.ask(ctx, apiInfo+stream, struct{}{}, &info); isCode(err, codeNotAvailable) {
		return 0, 0, ErrNoLeader
	} else if err != nil {
		return 0, 0, err
	}
	current = 1 // the leader
	if info.Cluster != nil {
		for _, r := range info.Cluster.Replicas {
			if r.Current && !r.Offline {
				current++
			}
		}
	}
	return current, info.Config.Replicas, nil
}

// purge forgets the messages of a stream before a sequence, which must be above 1, and returns when a majority knows
// and the leader has done it.
func (c *Conn) purge(ctx context.Context, stream string, before uint64) error {
	return c.askToPurge(ctx, stream, purgeRequest{Sequence: before})
}

// barrier returns when the leader of a stream has applied everything that was committed when barrier was called. It
// sends a purge that removes nothing through the stream's Raft group.
//
// A purge purges nothing if it names a subject that no message of the stream has. A purge before sequence 1 without a
// subject does not always: NATS 2.11.10 to 2.12.8 and 2.14.0, among others, purge the whole stream then. With both,
// newer servers answer without checking the stream.
func (c *Conn) barrier(ctx context.Context, stream string) error {
	return c.askToPurge(ctx, stream, purgeRequest{Sequence: 1, Subject: c.subject("barrier")})
}

type purgeRequest struct {
	Sequence uint64 `json:"seq"`
	Subject  string `json:"filter,omitempty"`
}

func (c *Conn) askToPurge(ctx context.Context, stream string, request purgeRequest) error {
	var response struct{}
	return c.askUntilAnswered(ctx, apiPurge+stream, request, &response)
}
