package server

import (
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
)

// waiting says what waits until all nodes of the cluster read a format.
var waiting = map[int]string{
	formats.Topics:     "There can be topics when all nodes of the cluster know what topics are",
	formats.Monitor:    "There can be alarms when all nodes of the cluster know what alarms are",
	formats.Trails:     "There can be trails when all nodes of the cluster know what trails are",
	formats.SignIn:     "People can sign in when all nodes of the cluster know what sessions are",
	formats.Tenants:    "There can be limits when all nodes of the cluster know what they are",
	formats.Composites: "There can be composite alarms when all nodes of the cluster know what composite alarms are",
}

// formats returns how records of the control store wait for programs that can read them.
func (s *Server) formats() control.Formats {
	return control.Formats{Ready: s.ready, Require: s.require}
}

// ready returns an error that a client can be given as long as some node does not read a format.
func (s *Server) ready(format int) error {
	err := s.node.Reads(format)
	if sentence, ok := waiting[format]; ok && err != nil {
		return service.TooEarly(sentence, err)
	}
	return err
}
