package jetstream

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// Subjects of the system account.
const (
	systemJetStream    = "$SYS.REQ.SERVER.PING.JSZ"
	systemRemove       = "$JS.API.SERVER.REMOVE"
	systemMetaStepDown = "$JS.API.META.LEADER.STEPDOWN"
)

// errNoSystem reports that the system account is not available.
var errNoSystem = errors.New("this takes a connection to the system account of NATS")

// system connects to the system account.
func (c *Conn) system() (*nats.Conn, error) {
	switch {
	case c.server != nil:
		return c.server.system()
	case c.options.SystemCredentials != "":
		return nats.Connect("", c.options.nats(c.options.SystemCredentials)...)
	}
	return nil, errNoSystem
}

// notMember is the code of NATS's error about a server that is not in the meta group.
const notMember = 10044

// RemoveMember removes a server permanently: other servers, if there are any, get its replicas, and it no longer counts
// for majorities. A server that is no member is not an error. The leader of the meta group knows a server by name only
// if it has heard of it since its own start; it always knows the id.
func (c *Conn) RemoveMember(ctx context.Context, name string) error {
	err := c.manage(ctx, systemRemove, map[string]string{"peer_id": peerID(name)})
	if e, ok := errors.AsType[*js.APIError](err); ok && e.ErrorCode == notMember {
		return nil
	}
	return err
}

// peerID is NATS's name of a server within its groups: the hash of its name.
func peerID(name string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(name))
	id := sum[:8]
	for i, b := range id {
		id[i] = digits[int(b)%len(digits)]
	}
	return string(id)
}

// manageAttempt is how long one request to the leader of the meta group waits: the
// answer comes when a majority has agreed.
const manageAttempt = 5 * time.Second

// manage makes a request to the leader of the meta group.
func (c *Conn) manage(ctx context.Context, subject string, request any) error {
	nc, err := c.system()
	if err != nil {
		return err
	}
	defer nc.Close()
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	// A member that does not lead does not answer, also while no member leads.
	ctx, cancel := context.WithTimeout(ctx, manageAttempt)
	defer cancel()
	reply, err := nc.RequestWithContext(ctx, subject, data)
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	var response struct {
		Error *js.APIError `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &response); err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	if response.Error != nil {
		return fmt.Errorf("%s: %w", subject, response.Error)
	}
	return nil
}

// stepDownMeta makes the leader of the meta group step down.
func (s *Server) stepDownMeta(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c := &Conn{server: s}
	if err := c.manage(ctx, systemMetaStepDown, struct{}{}); err != nil {
		s.log.Debug("meta group not handed over", "error", err)
	}
}
