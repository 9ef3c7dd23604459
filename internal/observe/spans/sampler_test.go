package spans

import (
	"strings"
	"testing"
)

func TestSampler(t *testing.T) {
	t.Parallel()
	low := origin{trace: traceID{0: 1, 8: 0x10}}  // in the first eighth of the traces
	high := origin{trace: traceID{0: 1, 8: 0xf0}} // in the last
	last := origin{trace: traceID{8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff, 12: 0xff, 13: 0xff, 14: 0xff, 15: 0xff}}
	sampled := origin{trace: high.trace, span: spanID{1}, flags: flagSampled}
	unsampled := origin{trace: low.trace, span: spanID{1}}
	for _, c := range []struct {
		name, share string
		want        [5]bool // of low, high, last, sampled, unsampled
		wrong       string
	}{
		{"", "", [5]bool{true, true, true, true, false}, ""},
		{" ParentBased_Always_On ", "", [5]bool{true, true, true, true, false}, ""},
		{"parentbased_always_off", "", [5]bool{false, false, false, true, false}, ""},
		{"parentbased_traceidratio", "0.25", [5]bool{true, false, false, true, false}, ""},
		{"parentbased_traceidratio", "", [5]bool{true, true, true, true, false}, ""},
		{"traceidratio", "0.25", [5]bool{true, false, false, false, true}, ""},
		{"traceidratio", "0", [5]bool{}, ""},
		{"traceidratio", "1.0", [5]bool{true, true, true, true, true}, ""},
		{"always_on", "", [5]bool{true, true, true, true, true}, ""},
		{"always_off", "", [5]bool{}, ""},
		{"sometimes", "", [5]bool{}, `OTEL_TRACES_SAMPLER="sometimes": want always_on`},
		{"traceidratio", "1.1", [5]bool{}, `OTEL_TRACES_SAMPLER_ARG="1.1": want a share`},
		{"traceidratio", "NaN", [5]bool{}, `OTEL_TRACES_SAMPLER_ARG="NaN": want a share`},
		{"traceidratio", "half", [5]bool{}, `OTEL_TRACES_SAMPLER_ARG="half": want a share`},
	} {
		s, err := newSampler(environment(map[string]string{samplerVariable: c.name, shareVariable: c.share}))
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q %q: %v", c.name, c.share, err)
		}
		if err != nil {
			continue
		}
		for i, o := range []*origin{&low, &high, &last, &sampled, &unsampled} {
			if got := s.wants(o); got != c.want[i] {
				t.Errorf("%q %q: trace %d: %v", c.name, c.share, i, got)
			}
		}
	}
}

// A span without a parent begins a trace, and a trace without a span continues.
func TestFinish(t *testing.T) {
	t.Parallel()
	var made []*span
	tracer := &Tracer{send: func(s *span) { made = append(made, s) }}
	tracer.finish(&span{})
	if len(made) != 0 {
		t.Error("a span was sent that the sampler does not want")
	}
	tracer.sampler.below = 1 << 63
	tracer.finish(&span{})
	tracer.finish(&span{})
	tracer.finish(&span{origin: origin{trace: traceID{1}}})
	if a, b := made[0], made[1]; a.trace == b.trace || a.id == b.id || !a.hasTrace() || a.id == (spanID{}) || !a.isSampled() {
		t.Errorf("%+v, %+v", a, b)
	}
	if c := made[2]; c.trace != (traceID{1}) || c.hasSpan() {
		t.Errorf("%+v", c)
	}
}
