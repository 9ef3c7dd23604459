package server

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// assembly are the files that know the Server. All others belong to wings, which know only what they were given.
var assembly = []string{"server.go", "run.go", "close.go"}

// No wing reaches through the Server.
func TestWingsDoNotKnowTheServer(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(assembly, name) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr: // such as http.Server
				return n.Sel.Name != "Server"
			case *ast.KeyValueExpr, *ast.Field:
			case *ast.Ident:
				if n.Name == "Server" {
					t.Errorf("%s: a wing knows the Server", set.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// Every wing that has loops is run, and every wing that has metrics is measured.
func TestNoWingIsForgotten(t *testing.T) {
	t.Parallel()
	typesOf := func(list any) (out []reflect.Type) {
		for _, v := range reflect.ValueOf(list).Seq2() {
			out = append(out, v.Elem().Type())
		}
		return out
	}
	run, measuredTypes := typesOf(shared.runners()), typesOf(shared.measured())
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Server]()) {
		if f.Type.Implements(reflect.TypeFor[runner]()) != slices.Contains(run, f.Type) {
			t.Errorf("%s has loops that are not run", f.Name)
		}
		if f.Type.Implements(reflect.TypeFor[measured]()) != slices.Contains(measuredTypes, f.Type) {
			t.Errorf("%s has metrics that are not measured", f.Name)
		}
	}
}

// Another node may ask before this server is prepared. It is refused, and counts this node as silent.
func TestQuestionsBeforeTheServerIsPrepared(t *testing.T) {
	t.Parallel()
	p := newPeers(slog.New(slog.DiscardHandler))
	for _, question := range []string{`{"Status":true}`, `{"Consumers":1}`} {
		if answer, err := p.answer(t.Context(), []byte(question)); !errors.Is(err, errUnprepared) {
			t.Errorf("%s: %s, %v", question, answer, err)
		}
	}
	if told := p.tell(); told != nil {
		t.Errorf("it tells of limits that it has not read: %s", told)
	}
	p.hear("b", []byte("nonsense"))
}

// A loop that fails is logged, and does not end the server.
func TestServerGoesOnWithoutALoop(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	config := inMemory()
	config.MetricsListen = "127.0.0.1:0"
	config.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, err := Start(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.exposition.listener.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	loops := s.begin(ctx)
	eventually.Succeeds(t, func() error {
		if text := log.String(); !strings.Contains(text, "metrics are not served any more") {
			return fmt.Errorf("the log is %s", text)
		}
		return nil
	})
	stop()
	loops.Wait()
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}
