package sns

import (
	"context"
	"regexp"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic/preferences"
)

// The operations about phones. No phone gets a text message, so none can opt out, and every account is in the sandbox
// of AWS's new accounts, in which it has verified no phone. Applications for phones do not exist either.

// phones serves the operations about phones.
type phones struct {
	*core
	preferences *preferences.Preferences
}

// ofAccount are the actions about phones, which are on no resource.
var ofAccount = []string{
	"SNS:CheckIfPhoneNumberIsOptedOut", "SNS:GetSMSAttributes", "SNS:GetSMSSandboxAccountStatus",
	"SNS:ListOriginationNumbers", "SNS:ListPhoneNumbersOptedOut", "SNS:ListPlatformApplications",
	"SNS:ListSMSSandboxPhoneNumbers", "SNS:OptInPhoneNumber", "SNS:SetSMSAttributes",
}

func (s *phones) register(wire *protocol.Service) {
	protocol.Register(wire, "CheckIfPhoneNumberIsOptedOut", s.checkIfPhoneNumberIsOptedOut)
	protocol.Register(wire, "GetSMSAttributes", s.getSMSAttributes)
	protocol.Register(wire, "GetSMSSandboxAccountStatus", s.getSMSSandboxAccountStatus)
	protocol.Register(wire, "ListOriginationNumbers", s.listOriginationNumbers)
	protocol.Register(wire, "ListPhoneNumbersOptedOut", s.listPhoneNumbersOptedOut)
	protocol.Register(wire, "ListPlatformApplications", s.listPlatformApplications)
	protocol.Register(wire, "ListSMSSandboxPhoneNumbers", s.listSMSSandboxPhoneNumbers)
	protocol.Register(wire, "OptInPhoneNumber", s.optInPhoneNumber, protocol.EmptyResult)
	protocol.Register(wire, "SetSMSAttributes", s.setSMSAttributes, protocol.Control, protocol.EmptyResult)
}

// aboutAccount returns nil if the caller may take the action of an operation that is on no resource.
func (s *phones) aboutAccount(c *protocol.Call) error {
	return s.authorize(c, service.Subject{Resource: service.ARN("*")}, "SNS:"+c.Operation)
}

type phoneInput struct {
	PhoneNumber *string `json:"phoneNumber" max:"64" hidden:""`
}

// phone refuses a request without a number that a phone can have.
func (s *phones) phone(c *protocol.Call, in *phoneInput) error {
	if err := s.aboutAccount(c); err != nil {
		return err
	}
	var v protocol.Violations
	number := v.Required("phoneNumber", in.PhoneNumber)
	if err := v.Err(); err != nil {
		return err
	}
	if !strictNumber.MatchString(number) {
		return errParameter("PhoneNumber Reason: input incorrectly formatted")
	}
	return nil
}

// strictNumber is a number of E.164.
var strictNumber = regexp.MustCompile(`^\+[1-9][0-9]{1,14}$`)

type optedOutOutput struct {
	IsOptedOut bool `json:"isOptedOut"`
}

func (s *phones) checkIfPhoneNumberIsOptedOut(
	_ context.Context, c *protocol.Call, in *phoneInput,
) (*optedOutOutput, error) {
	return nil, s.phone(c, in)
}

func (s *phones) optInPhoneNumber(_ context.Context, c *protocol.Call, in *phoneInput) (*service.Empty, error) {
	return nil, s.phone(c, in)
}

type sandboxOutput struct{ IsInSandbox bool }

func (s *phones) getSMSSandboxAccountStatus(
	_ context.Context, c *protocol.Call, _ *service.Empty,
) (*sandboxOutput, error) {
	return &sandboxOutput{IsInSandbox: true}, s.aboutAccount(c)
}

// noItems is a list that is always empty.
type noItems []string

// emptyPageInput requests a page of an empty list.
type emptyPageInput struct {
	NextToken  *string `max:"2048"`
	MaxResults *int32
}

// emptyPage refuses a request for a page of an empty list that no caller can make. A page has at most most items, if
// the caller can choose.
func (s *phones) emptyPage(c *protocol.Call, in *emptyPageInput, most int32) error {
	if err := s.aboutAccount(c); err != nil {
		return err
	}
	var v protocol.Violations
	if most > 0 {
		v.Range("maxResults", in.MaxResults, 1, most)
	}
	if err := v.Err(); err != nil {
		return err
	}
	none := func(string, int) []string { return nil }
	_, err := paginate(none, func(string) string { return "" }, in.NextToken, c.Operation)
	return err
}

type phoneNumbersOutput struct {
	PhoneNumbers noItems `json:",always" wrap:"member"`
}

func (s *phones) listOriginationNumbers(
	_ context.Context, c *protocol.Call, in *emptyPageInput,
) (*phoneNumbersOutput, error) {
	return nil, s.emptyPage(c, in, 30)
}

func (s *phones) listSMSSandboxPhoneNumbers(
	_ context.Context, c *protocol.Call, in *emptyPageInput,
) (*phoneNumbersOutput, error) {
	return nil, s.emptyPage(c, in, 100)
}

type optedOutInput struct {
	NextToken *string `json:"nextToken" max:"2048"`
}

type optedOutPhonesOutput struct {
	PhoneNumbers noItems `json:"phoneNumbers,always" wrap:"member"`
}

func (s *phones) listPhoneNumbersOptedOut(
	_ context.Context, c *protocol.Call, in *optedOutInput,
) (*optedOutPhonesOutput, error) {
	return nil, s.emptyPage(c, &emptyPageInput{NextToken: in.NextToken}, 0)
}

type platformApplicationsOutput struct {
	PlatformApplications noItems `json:",always" wrap:"member"`
}

func (s *phones) listPlatformApplications(
	_ context.Context, c *protocol.Call, in *listInput,
) (*platformApplicationsOutput, error) {
	return nil, s.emptyPage(c, &emptyPageInput{NextToken: in.NextToken}, 0)
}
