package server

import (
	"crypto/tls"
	"fmt"

	"github.com/sluicemq/sluice/internal/keypair"
)

// openCertificate returns the configuration of TLS for clients, or nil if they use plain HTTP. A certificate that takes
// the place of the first counts from the next connection on.
func (s *Server) openCertificate() (*tls.Config, error) {
	if s.config.TLSCert == "" {
		return nil, nil
	}
	p, err := keypair.Open(s.config.TLSCert, s.config.TLSKey, s.log)
	if err != nil {
		return nil, fmt.Errorf("load TLS certificate: %w", err)
	}
	s.certificate = p
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.Current(), nil },
	}, nil
}

// Reload reads the TLS certificate again, and says whether requests are logged from now on. It never ends the server: a
// certificate that cannot be read leaves the one from before, and a line in the log.
func (s *Server) Reload(logRequests bool) {
	s.front.LogRequests(logRequests)
	if s.certificate != nil {
		s.certificate.Reload()
	}
}
