package datadir

import "testing"

func TestCrashIsNoticed(t *testing.T) {
	dir := t.TempDir()
	begin := func(when string, want bool) {
		t.Helper()
		if crashed, err := Begin(dir); err != nil || crashed != want {
			t.Errorf("%s: crashed %t, %v", when, crashed, err)
		}
	}
	begin("the first start", false)
	begin("after a crash", true)
	begin("after another", true)
	for range 2 { // a second time changes nothing
		if err := End(dir); err != nil {
			t.Fatal(err)
		}
	}
	begin("after an orderly stop", false)
	accepted(t, dir) // the file is one of Sluice's
}
