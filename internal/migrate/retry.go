package migrate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// API calls operations of SQS.
type API interface {
	SQS(ctx context.Context, action string, in, out any) error
}

// passing are codes of refusals that a later try may not meet.
var passing = []string{
	"RequestThrottled", "Throttling", "ThrottlingException", "TooManyRequestsException", "OverLimit",
	"ServiceUnavailable", "InternalError", "InternalFailure", "InternalServerError", "RequestTimeout",
}

// codeOf is the code of a refusal, or "" if the server did not refuse: it was not reached, or its answer was invalid.
func codeOf(err error) string {
	var refusal interface{ ErrorCode() string }
	if errors.As(err, &refusal) {
		return refusal.ErrorCode()
	}
	return ""
}

// isRefusal reports whether a call fails however often it is made.
func isRefusal(err error) bool {
	code := codeOf(err)
	return code != "" && !slices.Contains(passing, code)
}

// A call is retried for retryFor: less than messages are hidden at the source while they are moved.
const (
	retryFor   = 40 * time.Second
	firstPause = 50 * time.Millisecond
	mostPause  = 5 * time.Second
)

// retrying makes a call until it succeeds, is refused, or retryFor is over.
func retrying(ctx context.Context, call func() error) error {
	deadline := time.Now().Add(retryFor)
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		err := call()
		if err == nil || isRefusal(err) || ctx.Err() != nil || time.Now().Add(pause).After(deadline) {
			return err
		}
		if wait.For(ctx, pause) != nil {
			return err
		}
	}
}
