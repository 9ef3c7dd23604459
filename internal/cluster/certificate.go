package cluster

import "time"

const (
	// certificateWarning is how long before the end of its certificate a node begins to
	// say so, and sayAgain how often it does.
	certificateWarning = 14 * 24 * time.Hour
	certificateAgain   = 24 * time.Hour
)

// certificateEnd returns when the certificate ends by which the other nodes know this
// one, and nil if it has none that does.
func (n *Node) certificateEnd() *time.Time {
	if n.o.Certificate == nil {
		return nil
	}
	certificate, err := n.o.Certificate()
	if err != nil {
		return nil
	}
	return &certificate.NotAfter
}

// watchCertificate says in the log that the certificate is about to end.
func (n *Node) watchCertificate() {
	again := time.NewTicker(certificateAgain)
	defer again.Stop()
	for {
		if end := n.certificateEnd(); end != nil && time.Until(*end) < certificateWarning {
			n.log.Warn("the certificate by which other nodes know this one is about to end; make a new one with sluice cluster certs", "end", end.UTC().Format(time.RFC3339))
		}
		select {
		case <-again.C:
		case <-n.ctx.Done():
			return
		}
	}
}

// daysUntil returns how many whole days are left.
func daysUntil(end *time.Time, now time.Time) *int64 {
	if end == nil {
		return nil
	}
	return new(int64(end.Sub(now) / (24 * time.Hour)))
}
