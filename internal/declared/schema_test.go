package declared

import (
	"flag"
	"os"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the schema anew")

const schemaFile = "../../docs/sluice.schema.json"

func TestTheSchemaIsCurrent(t *testing.T) {
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(schemaFile); err != nil || string(got) != string(want) {
		t.Errorf("docs/sluice.schema.json is outdated: run go test ./internal/declared -run Schema -rewrite (%v)", err)
	}
}
