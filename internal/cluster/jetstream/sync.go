package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

var (
	// ErrLazySync reports that servers acknowledge before the data is on stable storage: a loss of power that hits a
	// majority loses acknowledged operations.
	ErrLazySync = errors.New("NATS acknowledges before data is on stable storage (its servers need jetstream { sync_interval: always })")
	// ErrSyncUnknown reports that no server has answered a query for its setting.
	ErrSyncUnknown = errors.New("it is unknown whether NATS acknowledges only data on stable storage " +
		"(that takes credentials of its system account)")
)

// CheckSync checks that servers acknowledge only data on stable storage.
//
// An embedded server is started with syncs; CheckSync nevertheless reads its
// configuration. The other embedded servers of the cluster run the same
// program.
//
// The settings of an external NATS cluster can be read only with credentials of
// its system account; every server that answers within a second must then have
// sync_interval: always. Without the credentials the error is ErrSyncUnknown,
// and the operator must confirm the setting. Only the next check sees a server
// that joins later or returns with another setting. CheckSync cannot verify
// that the machines' disks really sync. When a log is opened, another check
// verifies that its stream is stored in files and acknowledged after the write
// (persist mode "default").
func (c *Conn) CheckSync(ctx context.Context) error {
	if c.server != nil {
		if config := c.server.inner.JetStreamConfig(); config == nil || !config.SyncAlways {
			return ErrLazySync
		}
		return nil
	}
	nc, err := c.system()
	if errors.Is(err, errNoSystem) {
		return ErrSyncUnknown
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSyncUnknown, err)
	}
	defer nc.Close()
	return checkSync(ctx, nc)
}

// checkSync asks all servers, over a connection to the system account.
func checkSync(ctx context.Context, nc *nats.Conn) error {
	inbox := nc.NewInbox()
	replies, err := nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	if err := nc.PublishRequest(systemJetStream, inbox, []byte(`{}`)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var lazy []string
	servers := 0
	for {
		m, err := replies.NextMsgWithContext(ctx)
		if err != nil {
			break
		}
		var response struct {
			Server struct {
				Name string `json:"name"`
			} `json:"server"`
			Data struct {
				Disabled bool `json:"disabled"`
				Config   struct {
					SyncAlways bool `json:"sync_always"`
				} `json:"config"`
			} `json:"data"`
		}
		if err := json.Unmarshal(m.Data, &response); err != nil || response.Server.Name == "" ||
			response.Data.Disabled {
			continue
		}
		servers++
		if !response.Data.Config.SyncAlways {
			lazy = append(lazy, response.Server.Name)
		}
	}
	switch {
	case servers == 0:
		return ErrSyncUnknown
	case len(lazy) > 0:
		slices.Sort(lazy)
		return fmt.Errorf("%w: not so on %s", ErrLazySync, strings.Join(lazy, ", "))
	}
	return nil
}
