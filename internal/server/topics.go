package server

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// openTopics reads the topics from the control store.
func (s *Server) openTopics() (err error) {
	s.topics, err = topic.Open(topic.Options{
		Control: s.control, Prepare: s.signing.Ensure,
		Ready: func() error {
			if err := s.node.Reads(datadir.FormatTopics); err != nil {
				return service.Unavailable(fmt.Sprintf("There can be topics when all nodes of the cluster know what topics are: %v.", err), err)
			}
			return nil
		},
		Require: func() error { return s.require(datadir.FormatTopics) },
	})
	return err
}

// newSNS returns the SNS service.
func (s *Server) newSNS(queues *catalog.Catalog, permissions *access.Decider) (*sns.Service, *protocol.Service) {
	return sns.New(sns.Options{
		Topics: s.topics, Catalog: queues, Messages: s.messages, Access: permissions, QueueRules: sqs.Rules,
		IDOf: s.directory.ID, Now: s.config.Now, CatchUp: s.node.CatchUp, Endpoint: s.Endpoint, Room: s.room, Log: s.log,
		Signer: func(version, base string) (envelope.Signer, error) { return s.signing.Signer(version, base) },
	})
}
