package command

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/tool/days"
)

// seconds is the value of a flag: whole seconds, or nothing if it is not given.
type seconds struct{ n **int32 }

// addSeconds declares a flag for whole seconds.
func addSeconds(f *pflag.FlagSet, n **int32, name, help string) { f.Var(seconds{n}, name, help) }

func (s seconds) Set(text string) error {
	d, err := days.Parse(text)
	if n, number := strconv.Atoi(text); number == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d < 0 || d%time.Second != 0 || d/time.Second > math.MaxInt32 {
		return errors.New("want whole seconds, such as 30s, 5m, 4d or 30")
	}
	whole := int32(d / time.Second)
	*s.n = &whole
	return nil
}

func (s seconds) String() string {
	if s.n == nil || *s.n == nil {
		return ""
	}
	return (time.Duration(**s.n) * time.Second).String()
}

func (s seconds) Type() string { return "seconds" }
