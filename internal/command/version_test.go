package command

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuildNamesItsCommit(t *testing.T) {
	b := buildOf(&debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "deadbeef"}, {Key: "vcs.time", Value: "2026-11-22T06:00:00Z"},
			{Key: "vcs.modified", Value: "true"},
		},
	})
	var text strings.Builder
	if err := b.text(&text); err != nil {
		t.Fatal(err)
	}
	want := "sluice v1.2.3\ncommit deadbeef of 2026-11-22T06:00:00Z, with changes\n" + b.Go + " " + b.Platform + "\n"
	if text.String() != want {
		t.Errorf("printed %q, want %q", &text, want)
	}
	if old := buildOf(new(debug.BuildInfo)); old.Version != "(devel)" || old.Commit != "" {
		t.Errorf("of a build without version: %+v", old)
	}
}
