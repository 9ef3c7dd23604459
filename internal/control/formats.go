package control

import "sync/atomic"

// Formats are how it is made sure that every program can read what is written. Both functions may be nil: then all
// programs read all formats, and nothing has to be written down.
type Formats struct {
	// Ready returns an error as long as some program that reads the control store does not read a format. It is asked
	// before the first record is written that needs the format.
	Ready func(format int) error
	// Require writes down that the data directory needs a program that reads a format. It is called before the first
	// record is written that needs it, and when one is first read.
	Require func(format int) error
}

// AllRead reports whether every program that reads the control store reads a format.
func (f Formats) AllRead(format int) bool { return f.Ready == nil || f.Ready(format) == nil }

// Gate keeps records from being written that some program cannot read, by Formats. A Set has one; others are for
// records of a table that need a newer format than the rest of it.
type Gate struct {
	Formats
	passed atomic.Int64 // the highest format of which Require had no error
}

// Pass calls Require, unless it was called for this format or a higher one.
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

// MayWrite returns an error if no record must be written that needs a format. first says that there is none so far.
func (g *Gate) MayWrite(format int, first bool) error {
	if first && format > 0 && g.Ready != nil {
		if err := g.Ready(format); err != nil {
			return err
		}
	}
	return g.Pass(format)
}
