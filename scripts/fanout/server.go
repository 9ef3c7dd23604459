package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/scripts/program"
)

// server is a Sluice, and a client of it.
type server struct {
	*program.Server
	*workload.Client
	bin string // the directory of the program
}

// start builds the program and starts it; it returns when the server listens.
func start(ctx context.Context, in string) (*server, error) {
	bin, err := os.MkdirTemp("", "fanout-")
	if err != nil {
		return nil, err
	}
	s, binary := &server{bin: bin}, filepath.Join(bin, "sluice")
	if err = program.Build(ctx, binary); err == nil {
		s.Server, err = program.Start(
			ctx,
			binary,
			in,
			"--root-access-key-id",
			workload.Root.AccessKeyID,
			"--root-secret-access-key",
			workload.Root.Secret,
		)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(bin))
	}
	s.Client = workload.NewClient(s.Server.Endpoint)
	return s, nil
}

func (s *server) stop() error { return errors.Join(s.Stop(), os.RemoveAll(s.bin)) }

// establish creates queues and a topic with subscriptions to them.
func (s *server) establish(topic string, queues []string, raw bool) error {
	for _, q := range queues {
		if err := s.queue(q); err != nil {
			return err
		}
	}
	return s.topic(topic, queues, raw)
}

func (s *server) queue(name string) error {
	if err := s.Create(history.Queue{Name: name}); err != nil {
		return err
	}
	return s.Admit(name)
}

func (s *server) topic(name string, queues []string, raw bool) error {
	if err := s.Notify("CreateTopic", url.Values{"Name": {name}}, nil); err != nil {
		return err
	}
	for _, q := range queues {
		if err := s.Subscribe(name, q, raw); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) publish(topic, body string) error {
	return s.Notify("Publish", url.Values{"TopicArn": {workload.TopicARN(topic)}, "Message": {body}}, nil)
}

func (s *server) send(queue, body string) error {
	return s.Call("SendMessage", workload.Object{"QueueUrl": s.URL(queue), "MessageBody": body}, nil)
}
