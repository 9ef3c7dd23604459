package cluster

import "time"

// certificateEnd returns when the certificate that identifies this node to the others expires. It returns nil if the
// node has no certificate that expires.
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

// watchCertificate logs a warning before the certificate expires.
func (c *common) watchCertificate() {
	again := time.NewTicker(certificateAgain)
	defer again.Stop()
	for {
		if end := c.certificateEnd(); end != nil && time.Until(*end) < certificateWarning {
			c.log.Warn(
				"the certificate that identifies this node to the others is about to expire; create a new one with sluice cluster certs",
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

// daysUntil returns the number of whole days left.
func daysUntil(end *time.Time, now time.Time) *int64 {
	if end == nil {
		return nil
	}
	return new(int64(end.Sub(now) / (24 * time.Hour)))
}
