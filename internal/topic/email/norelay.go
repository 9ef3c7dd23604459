package email

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/tool/throttle"
	"github.com/sluicemq/sluice/internal/topic/delivery"
)

// NoRelay is the sender of a server without a relay. Any address can subscribe, as on AWS. The mail with the link waits
// as for a relay that does not answer, so it arrives if the server is soon restarted with a relay. Until the owner of
// the address follows the link, the subscription gets no messages. NoRelay implements delivery.Sender.
type NoRelay struct {
	Log *slog.Logger
	Now func() time.Time

	warnings throttle.Minute
}

// Check implements delivery.Sender. It logs, once a minute, what the operator has to do.
func (n *NoRelay) Check(_, endpoint string) error {
	if err := checkAddress(endpoint); err != nil {
		return err
	}
	if n.warnings.Allow(n.Now()) {
		n.Log.Warn("a mail address subscribes to a topic, but the server sends no mail: start it with --smtp-server")
	}
	return nil
}

var errNoRelay = errors.New("the server sends no mail: it was started without --smtp-server")

// Send implements delivery.Sender.
func (n *NoRelay) Send(context.Context, *delivery.Target, *delivery.Message) error { return errNoRelay }

// Timeout implements delivery.Sender.
func (n *NoRelay) Timeout() time.Duration { return 0 }
