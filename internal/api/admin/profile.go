package admin

import (
	"bytes"
	"context"
	"net/http"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

const (
	// MaxProfileSeconds is the maximum duration of a CPU profile.
	MaxProfileSeconds = 30
	// DefaultProfileSeconds is its duration if the caller sets none.
	DefaultProfileSeconds = 10
)

// ProfileKinds are the kinds of profiles: the work of the processors for some seconds, and the memory in use and the
// stacks of all goroutines at one moment.
var ProfileKinds = []string{"cpu", "heap", "goroutine"}

type profileServerInput struct {
	Kind    string `max:"16"`
	Seconds *int32 // of a profile of kind cpu
}

type profileServerOutput struct {
	Profile []byte // compressed, in the format of pprof
}

// profileServer profiles the process that gets the request. A profile has functions, lines and numbers, and no data of
// a client.
func (s *Service) profileServer(
	ctx context.Context, c *protocol.Call, in *profileServerInput,
) (*profileServerOutput, error) {
	c.Notes.Set("kind", in.Kind)
	if err := s.allow(c); err != nil {
		return nil, err
	}
	if !slices.Contains(ProfileKinds, in.Kind) {
		return nil, protocol.ValidationError("Kind is %q; it must be cpu, heap or goroutine.", in.Kind)
	}
	seconds := int32(DefaultProfileSeconds)
	if in.Seconds != nil {
		seconds = *in.Seconds
	}
	if seconds < 1 || seconds > MaxProfileSeconds {
		return nil, protocol.ValidationError("Seconds is %d; it must be 1 to %d.", seconds, MaxProfileSeconds)
	}
	profile, err := takeProfile(ctx, in.Kind, time.Duration(seconds)*time.Second)
	if err != nil {
		return nil, err
	}
	return &profileServerOutput{profile}, nil
}

func takeProfile(ctx context.Context, kind string, d time.Duration) ([]byte, error) {
	var out bytes.Buffer
	if kind != "cpu" {
		if err := pprof.Lookup(kind).WriteTo(&out, 0); err != nil {
			return nil, service.Failure(err)
		}
		return out.Bytes(), nil
	}
	// A process has one of its processors at a time.
	if err := pprof.StartCPUProfile(&out); err != nil {
		return nil, errProfiling
	}
	err := wait.For(ctx, d)
	pprof.StopCPUProfile()
	return out.Bytes(), err
}

var errProfiling = refusal("ProfileInProgress", http.StatusConflict, "Another profile of this server is being taken.")
