package cluster

import "time"

// certificateEnd returns when the certificate ends by which the other nodes know this
// one, and nil if it has none that does.
func (c *common) certificateEnd() *time.Time {
	if c.o.Certificate == nil {
		return nil
	}
	certificate, err := c.o.Certificate()
	if err != nil {
		return nil
	}
	return &certificate.NotAfter
}

// watchCertificate says in the log that the certificate is about to end.
func (c *common) watchCertificate() {
	again := time.NewTicker(certificateAgain)
	defer again.Stop()
	for {
		if end := c.certificateEnd(); end != nil && time.Until(*end) < certificateWarning {
			c.log.Warn(
				"the certificate by which other nodes know this one is about to end; make a new one with sluice cluster certs",
				"end",
				end.UTC().Format(time.RFC3339),
			)
		}
		select {
		case <-again.C:
		case <-c.ctx.Done():
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
