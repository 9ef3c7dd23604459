package command_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
)

var rewrite = flag.Bool("rewrite", false, "write what the commands print into the transcripts and the reference")

// A transcript is what a person sees who types commands into a shell: after "$ "
// the command, below it what it prints and, unless it is 0, its exit status. Its
// server is started with --in-memory and the words of a first line "# serve ...".
//
//	$ sluice queue send jobs hello
//	UUID-1
//
// The root's key is in the environment, and in the profile root. A value that differs from run to run has a name with a
// number, which commands can use as well. Besides sluice there are
//
//	$ printf TEXT >FILE         \n is a new line
//	$ eval "$(sluice ...)"      the exports that it prints count from now on
//	$ export NAME=VALUE
//	$ sluice ... <FILE
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts found", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			file, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			got := play(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("%s", firstDifference(got, string(text)))
			}
		})
	}
}

// firstDifference shows where two texts begin to differ, with the line before.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			to := func(lines []string) string { return strings.Join(lines[max(0, i-5):min(len(lines), i+5)], "\n") }
			return fmt.Sprintf("line %d:\n%s\n\nwant\n%s", i+1, to(a), to(b))
		}
	}
	return fmt.Sprintf("after line %d there should be more", len(a))
}

// shell is the environment of a transcript's commands.
type shell struct {
	t     *testing.T
	names map[string]string // of varying values
	count map[string]int
}

// play runs the commands of a transcript, and returns it with their output.
func play(t *testing.T, text string) string {
	s := &shell{t: t, names: make(map[string]string), count: make(map[string]int)}
	options := []string{"--in-memory"}
	var out strings.Builder
	skipping, blank := false, true // the line before is blank
	for line := range strings.Lines(text) {
		comment := blank && strings.HasPrefix(line, "# ")
		blank = line == "\n"
		switch typed, isCommand := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ "); {
		case isCommand:
			if s.count["server"]++; s.count["server"] == 1 {
				s.start(options)
			}
			out.WriteString(line)
			printed := s.hide(s.run(typed))
			out.WriteString(printed)
			out.WriteString("\n")
			skipping = true
		case comment || !skipping:
			if more, ok := strings.CutPrefix(line, "# serve "); ok {
				options = append(options, strings.Fields(more)...)
			}
			skipping = false
			out.WriteString(line)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func (s *shell) start(options []string) {
	server := serve(s.t, options...)
	s.names[server.exports["AWS_ENDPOINT_URL_SQS"]] = "http://127.0.0.1:9324"
	for name, value := range server.exports {
		s.t.Setenv(name, value)
	}
	s.t.Setenv("AWS_ENDPOINT_URL_SQS", server.exports["AWS_ENDPOINT_URL_SQS"])
	s.t.Setenv("HOME", "/nowhere")
	root := fmt.Sprintf("[root]\naws_access_key_id = %s\naws_secret_access_key = %s\n",
		server.exports["AWS_ACCESS_KEY_ID"], server.exports["AWS_SECRET_ACCESS_KEY"])
	if err := os.WriteFile("credentials", []byte(root), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "credentials")
}

var evaluated = regexp.MustCompile(`^eval "\$\((.*)\)"$`)

// run runs a typed line, and returns its output and status.
func (s *shell) run(typed string) string {
	for real, name := range s.names {
		typed = strings.ReplaceAll(typed, name, real)
	}
	if m := evaluated.FindStringSubmatch(typed); m != nil {
		printed := s.run(m[1])
		as(s.t, nil, printed)
		return printed
	}
	words := words(s.t, typed)
	last := words[len(words)-1]
	switch words[0] {
	case "printf":
		if err := os.WriteFile(strings.TrimPrefix(last, ">"), []byte(strings.ReplaceAll(words[1], `\n`, "\n")),
			0o600); err != nil {
			s.t.Fatal(err)
		}
		return ""
	case "export":
		name, value, _ := strings.Cut(words[1], "=")
		s.t.Setenv(name, value)
		return ""
	case "sluice":
		in := ""
		if strings.HasPrefix(last, "<") {
			in, words = last[1:], words[:len(words)-1]
		}
		return s.sluice(words[1:], in)
	}
	s.t.Fatalf("no command %q", typed)
	return ""
}

func (s *shell) sluice(args []string, in string) string {
	var input, out bytes.Buffer
	if in != "" {
		text, err := os.ReadFile(in)
		if err != nil {
			s.t.Fatal(err)
		}
		input.Write(text)
	}
	err := command.Run(s.t.Context(), args, &input, &out, &out)
	command.Explain(&out, err)
	if status := command.Status(err); status != 0 {
		fmt.Fprintf(&out, "exit %d\n", status)
	}
	return out.String()
}

// words splits a line like a shell: at unquoted spaces.
func words(t *testing.T, line string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+|\s+`).FindAllString(line, -1) {
		switch {
		case strings.TrimSpace(m) == "":
			out = append(out, "")
			continue
		case len(out) == 0:
			out = append(out, "")
		}
		if m[0] == '\'' || m[0] == '"' {
			m = m[1 : len(m)-1]
		}
		out[len(out)-1] += m
	}
	return out
}

// differing are the values that vary, by the name of their replacement.
var differing = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"SECRET", regexp.MustCompile(`(?:SECRET_ACCESS_KEY=|secret_access_key = |"SecretAccessKey": ")([^"\s]+)`)},
	{"KEY", regexp.MustCompile(`\b(AKIA[A-Z0-9]{12,})\b`)},
	{"ID", regexp.MustCompile(`\b(AIDA[A-Z0-9]{12,})\b`)},
	{"UUID", regexp.MustCompile(`\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b`)},
	{"HANDLE", regexp.MustCompile(`(?:Handle": ")([^"]+)`)},
	{"ACCOUNT", regexp.MustCompile(`(?:# account |"AccountId": ")(\d{12})`)},
}

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|("(?:InvisibleUntil|FirstSeenTimestamp|LastSeenTimestamp)": |"(?:Sent|ApproximateFirstReceive|Started|Created|LastModified)Timestamp": "?|(?:Created|LastModified)Timestamp +)\d+`)

// accounts are the accounts with constant numbers.
var accounts = []string{"000000000000", "000011112222", "111122223333"}

// hide replaces values that vary.
func (s *shell) hide(printed string) string {
	for _, d := range differing {
		for _, m := range d.pattern.FindAllStringSubmatch(printed, -1) {
			if _, known := s.names[m[1]]; !known && !slices.Contains(accounts, m[1]) &&
				!strings.HasPrefix(m[1], d.name+"-") {
				s.count[d.name]++
				s.names[m[1]] = fmt.Sprintf("%s-%d", d.name, s.count[d.name])
			}
		}
	}
	for real, name := range s.names {
		printed = strings.ReplaceAll(printed, real, name)
	}
	return moments.ReplaceAllString(printed, "${1}TIME")
}
