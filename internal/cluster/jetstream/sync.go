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
	// ErrSyncUnknown reports that no server could be asked about its setting.
	ErrSyncUnknown = errors.New("it cannot be seen whether NATS acknowledges only what is on stable storage " +
		"(that takes credentials of its system account)")
)

// CheckSync checks that what is acknowledged is on stable storage.
//
// An embedded server is known to sync: it is started so. Its configuration is read
// back all the same. Of the other embedded servers of the cluster it is
// known because they are the same program.
//
// For an external NATS cluster, the setting of its servers can be seen
// with credentials of its system account only; every server that answers
// within a second must then have sync_interval: always. Without them the error is
// ErrSyncUnknown, and it is for the operator to say that it is so.
// The check tells how servers are configured now; one that joins later, or comes
// back with another setting, is seen by the next check only. In any case it
// is not known whether the machines' disks keep their word. That
// streams are stored in files and acknowledged after they were written
// (persist mode "default") is checked when a log is opened.
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
