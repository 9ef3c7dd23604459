package spans

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sampler decides which spans are sent.
type sampler struct {
	followsParent bool   // a parent that is sampled or not decides
	below         uint64 // the traces whose last 63 bits are less are sampled
}

// newSampler returns the sampler that the environment names.
func newSampler(getenv func(string) string) (sampler, error) {
	name := strings.ToLower(strings.TrimSpace(getenv(samplerVariable)))
	if name == "" {
		name = "parentbased_always_on"
	}
	var s sampler
	way, followsParent := strings.CutPrefix(name, "parentbased_")
	s.followsParent = followsParent
	switch way {
	case "always_on":
		s.below = math.MaxUint64
	case "always_off":
	case "traceidratio":
		share, err := sampledShare(getenv)
		if err != nil {
			return s, err
		}
		if s.below = uint64(share * (1 << 63)); share == 1 {
			s.below = math.MaxUint64
		}
	default:
		return s, fmt.Errorf("%s=%q: want always_on, always_off or traceidratio, or one of these after parentbased_",
			samplerVariable, getenv(samplerVariable))
	}
	return s, nil
}

// sampledShare returns the share of the traces that are sampled.
func sampledShare(getenv func(string) string) (float64, error) {
	value := strings.TrimSpace(getenv(shareVariable))
	if value == "" {
		return 1, nil
	}
	share, err := strconv.ParseFloat(value, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("%s=%q: want a share from 0 to 1", shareVariable, value)
	}
	return share, nil
}

// wants reports whether a span of this trace is sent.
func (s *sampler) wants(o *origin) bool {
	if s.followsParent && o.hasSpan() {
		return o.isSampled()
	}
	return binary.BigEndian.Uint64(o.trace[8:])>>1 < s.below
}
