package sns

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic/preferences"
)

// The SMS attributes of an account, which are separate in each region.
const (
	smsRole   = "DeliveryStatusIAMRole"
	smsRate   = "DeliveryStatusSuccessSamplingRate"
	smsLimit  = "MonthlySpendLimit"
	smsReport = "UsageReportS3Bucket"
	smsSender = "DefaultSenderID"
	smsType   = "DefaultSMSType"
)

// usualSpendLimit is the limit of accounts that have not set it, in dollars.
const usualSpendLimit = "1"

type smsAttributesInput struct {
	Attributes []string `json:"attributes" max:"50,256" wrap:"member"`
}

type smsAttributesOutput struct {
	Attributes map[string]string `json:"attributes,always" wrap:"entry" entry:"key,value"`
}

// smsPlace is the place whose SMS attributes a request is about.
func smsPlace(c *protocol.Call) preferences.Place {
	return preferences.Place{Account: service.Caller(c).Account, Region: c.Region}
}

// getSMSAttributes answers the attributes that a request names, or all of them.
func (s *phones) getSMSAttributes(
	_ context.Context, c *protocol.Call, in *smsAttributesInput,
) (*smsAttributesOutput, error) {
	if err := s.aboutAccount(c); err != nil {
		return nil, err
	}
	all := map[string]string{smsLimit: usualSpendLimit}
	maps.Copy(all, s.preferences.Of(smsPlace(c)))
	if len(in.Attributes) > 0 {
		maps.DeleteFunc(all, func(name, _ string) bool { return !slices.Contains(in.Attributes, name) })
	}
	return &smsAttributesOutput{all}, nil
}

type setSMSAttributesInput struct {
	Attributes map[string]string `json:"attributes" max:"50,256,2048" wrap:"entry" entry:"key,value"`
}

// setSMSAttributes sets attributes. The empty string removes one.
func (s *phones) setSMSAttributes(
	ctx context.Context, c *protocol.Call, in *setSMSAttributesInput,
) (*service.Empty, error) {
	if err := s.aboutAccount(c); err != nil {
		return nil, err
	}
	if in.Attributes == nil {
		var v protocol.Violations
		v.Required("attributes", nil)
		return nil, v.Err()
	}
	for _, name := range sortedNames(in.Attributes) {
		if err := checkSMSAttribute(name, in.Attributes[name]); err != nil {
			return nil, err
		}
	}
	if err := s.checkRoom(); err != nil {
		return nil, err
	}
	return nil, failure(s.preferences.Set(ctx, smsPlace(c), in.Attributes))
}

// checkSMSAttribute refuses a value that an attribute cannot have.
func checkSMSAttribute(name, value string) error {
	valid, known := smsValues[name]
	switch {
	case !known:
		return errSMS("%s is not a valid attribute", service.Shorten(name))
	case value == "" || valid(value):
	case name == smsReport:
		return errParameter("%s Reason: The bucket you provided does not exist", name)
	default:
		return errSMS("%s is invalid", name)
	}
	return nil
}

// smsValues has the allowed values of the attributes.
var smsValues = map[string]func(string) bool{
	smsLimit:  func(value string) bool { return isNumber(value, 1<<31-1) },
	smsRate:   func(value string) bool { return isNumber(value, 100) },
	smsRole:   roleARN.MatchString,
	smsSender: func(id string) bool { return senderID.MatchString(id) && strings.ContainsFunc(id, isLetter) },
	smsType:   func(value string) bool { return value == "Promotional" || value == "Transactional" },
	smsReport: bucketName.MatchString,
}

// isNumber reports whether a text is a whole number from 0 to most.
func isNumber(text string, most uint64) bool {
	n, err := strconv.ParseUint(text, 10, 64)
	return err == nil && n <= most
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

var (
	// senderID is the id that a phone shows as the sender; it also has a letter.
	senderID   = regexp.MustCompile(`^[A-Za-z0-9-]{1,11}$`)
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
)
