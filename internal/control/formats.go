package control

import "sync/atomic"

// Formats ensures that every program can read what is written. Both functions may be nil: then all programs read all
// formats, and no requirement is recorded.
type Formats struct {
	// Ready returns an error if a program that reads the control store does not read a format, or is not known to.
	// It is called before the first record that needs the format is written.
	Ready func(format int) error
	// Require records that the data directory needs a program that reads a format. It is called before the first record
	// that needs the format is written, and when one is first read.
	Require func(format int) error
}

// AllRead reports whether every program that reads the control store is known to read a format.
func (f Formats) AllRead(format int) bool { return f.Ready == nil || f.Ready(format) == nil }

// Gate prevents the writing of records that some program cannot read, according to Formats. Each Set has one.
type Gate struct {
	Formats
	passed atomic.Int64 // the highest format of which Require had no error
}

// Pass calls Require, unless it has succeeded for this format or a higher one.
func (g *Gate) Pass(format int) error {
	if g.passed.Load() >= int64(format) {
		return nil
	}
	if g.Require != nil {
		if err := g.Require(format); err != nil {
			return err
		}
	}
	for {
		passed := g.passed.Load()
		if passed >= int64(format) || g.passed.CompareAndSwap(passed, int64(format)) {
			return nil
		}
	}
}

// MayWrite returns an error if records that need a format must not be written. first means that there is none yet.
func (g *Gate) MayWrite(format int, first bool) error {
	if first && format > 0 && g.Ready != nil {
		if err := g.Ready(format); err != nil {
			return err
		}
	}
	return g.Pass(format)
}
