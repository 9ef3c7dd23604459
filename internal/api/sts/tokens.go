package sts

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type sessionTokenInput struct {
	tokenSize
	DurationSeconds *int32
	SerialNumber    *string `max:"256"`
	TokenCode       *string `max:"6"   hidden:""`
}

type sessionTokenOutput struct {
	Credentials Credentials
	tokenUse
}

func (s *Service) getSessionToken(
	ctx context.Context, c *protocol.Call, in *sessionTokenInput,
) (*sessionTokenOutput, error) {
	id := service.Caller(c)
	if id.Session != nil {
		return nil, protocol.AccessDenied("Cannot call GetSessionToken with session credentials")
	}
	shown, err := s.secondFactor(c, in.SerialNumber, in.TokenCode)
	if err != nil {
		return nil, err
	}
	if err := s.use(ctx, &id, shown); err != nil {
		return nil, err
	}
	seconds := lasting(in.DurationSeconds, defaultOfUsers)
	if id.IsRoot() {
		seconds = min(seconds, mostOfRoots)
	}
	session := s.sessionOf(&id, seconds, nil)
	session.MFA = shown.at
	keys, err := s.issue(id.Kind, id.Account, "", session, in.tokenSize)
	if err != nil {
		return nil, err
	}
	return &sessionTokenOutput{keys, useOf(keys)}, nil
}

type federationTokenInput struct {
	tokenSize
	Name *string `max:"32"`
	restrictions
	DurationSeconds *int32
	Tags            []Tag `max:"50" wrap:"member"`
}

// FederatedUser is the holder of keys of GetFederationToken.
type FederatedUser struct {
	FederatedUserId string
	Arn             string
}

type federationTokenOutput struct {
	Credentials      Credentials
	FederatedUser    FederatedUser
	PackedPolicySize *int32
	tokenUse
}

func (s *Service) getFederationToken(
	_ context.Context, c *protocol.Call, in *federationTokenInput,
) (*federationTokenOutput, error) {
	id := service.Caller(c)
	if id.Session != nil {
		return nil, protocol.AccessDenied("Cannot call GetFederationToken with session credentials")
	}
	who, seconds := *in.Name, lasting(in.DurationSeconds, defaultOfUsers)
	if id.IsRoot() {
		seconds = min(seconds, mostOfRoots)
	}
	arn := "arn:aws:sts::" + id.Account + ":federated-user/" + who
	if err := s.allow(c, "GetFederationToken", arn, nil); err != nil {
		return nil, err
	}
	l, err := s.newLimits(id.Account, &in.restrictions, in.Tags)
	if err != nil {
		return nil, err
	}
	if len(l.Tags) > 0 {
		if err := s.allow(c, "TagSession", arn, l.Tags); err != nil {
			return nil, err
		}
	}
	session := s.sessionOf(&id, seconds, l)
	keys, err := s.issue(policy.FederatedUser, id.Account, who, session, in.tokenSize)
	if err != nil {
		return nil, err
	}
	return &federationTokenOutput{
		Credentials:      keys,
		FederatedUser:    FederatedUser{id.Account + ":" + who, arn},
		PackedPolicySize: l.packed,
		tokenUse:         useOf(keys),
	}, nil
}
