package server

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/datadir"
)

// redriveReady returns why message move tasks cannot select messages yet.
func (s *Server) redriveReady() error {
	if err := s.node.Reads(datadir.FormatSelections); err != nil {
		return service.Unavailable(fmt.Sprintf("Messages can be selected to be moved when all nodes of the cluster know how: %v.", err), err)
	}
	return nil
}
