package command

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/tool/days"
)

// longDuration is the value of a flag: a duration that may have days, such as 7d or 1d12h.
type longDuration struct{ d *time.Duration }

// addLongDuration declares a flag for a duration that may have days. The value of d is its default.
func addLongDuration(f *pflag.FlagSet, d *time.Duration, name, help string) {
	f.Var(longDuration{d}, name, help)
}

func (l longDuration) Set(text string) (err error) {
	d, err := days.Parse(text)
	if err == nil {
		*l.d = d
	}
	return err
}

func (l longDuration) String() string {
	if l.d == nil || *l.d == 0 {
		return "0"
	}
	return days.Format(*l.d)
}

func (l longDuration) Type() string { return "duration" }
