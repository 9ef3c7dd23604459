package declared

import (
	"context"
	"errors"
	"slices"
)

// API calls operations of AWS, and of Sluice where AWS has none, in one region, as one account.
type API interface {
	// SQS and CloudWatch call an operation in AWS JSON.
	SQS(ctx context.Context, action string, in, out any) error
	CloudWatch(ctx context.Context, action string, in, out any) error
	// SNS, IAM and STS call an operation in the Query protocol. params are alternating names and values; out receives
	// the answer, by the rules of encoding/xml.
	SNS(ctx context.Context, action string, out any, params ...string) error
	IAM(ctx context.Context, action string, out any, params ...string) error
	STS(ctx context.Context, action string, out any, params ...string) error
	// Sluice calls one of Sluice's own operations, or returns ErrNotSluice.
	Sluice(ctx context.Context, action string, in, out any) error
}

// isRefusal reports whether the server refused a call with one of the codes.
func isRefusal(err error, codes ...string) bool {
	var refusal interface{ ErrorCode() string }
	return errors.As(err, &refusal) && slices.Contains(codes, refusal.ErrorCode())
}

// HomeOf returns the account of an API's keys, and a region.
func HomeOf(ctx context.Context, api API, region string) (Scope, error) {
	var out struct {
		Account string `xml:"GetCallerIdentityResult>Account"`
		Arn     string `xml:"GetCallerIdentityResult>Arn"`
	}
	if err := api.STS(ctx, "GetCallerIdentity", &out); err != nil {
		return Scope{}, err
	}
	partition := "aws"
	if p := splitARN(out.Arn); p != "" {
		partition = p
	}
	if !accountNumber.MatchString(out.Account) {
		return Scope{}, errors.New("GetCallerIdentity: the answer has no account")
	}
	return Scope{partition, out.Account, region}, nil
}
