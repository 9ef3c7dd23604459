package server

import (
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/formats"
)

// redriveReady returns why message move tasks cannot select messages yet.
func (s *Server) redriveReady() error {
	if err := s.node.Reads(formats.Selections); err != nil {
		return service.TooEarly("Messages can be selected to be moved when all nodes of the cluster know how", err)
	}
	return nil
}
