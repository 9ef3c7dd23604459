// Manpages writes a manual page for each command of sluice into a directory, compressed as systems keep them:
//
//	go run ./scripts/manpages DIR
//
// The pages have the date of the last commit, or of SOURCE_DATE_EPOCH (in seconds since 1970) if that is set, so that
// the same source produces the same pages.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/sluicemq/sluice/internal/command"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/manpages DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	day, err := sourceDate()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := command.Tree()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(
		root, &doc.GenManHeader{Section: "1", Source: "Sluice", Manual: "Sluice", Date: &day}, dir,
	); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := compress(page); err != nil {
			return err
		}
	}
	return nil
}

// compress puts a file with the ending .gz in the place of a file. The file contains neither name nor time: the same
// page produces the same file.
func compress(file string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(page); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(file+".gz", compressed.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Remove(file)
}

func sourceDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the day of the last commit: %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q: want seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
