package search_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/search"
)

func at(day string) int64 {
	t, err := time.Parse(time.RFC3339, day)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli()
}

func order() *search.Item {
	return &search.Item{
		Body: []byte(`{"order":{"id":17,"customer":"Ann \"A\" Berg","lines":[{"sku":"a-1","n":2},{"sku":"b-2","n":12345678901234567891}],"paid":true,"note":null}}`),
		Attributes: []search.Attribute{
			{Name: []byte("tenant"), Type: []byte("String"), Value: []byte("Acme")},
			{Name: []byte("trace.id"), Type: []byte("String"), Value: []byte("x:y")},
			{Name: []byte("weight"), Type: []byte("Number"), Value: []byte("1.50")},
		},
		ID: []byte("0f3c8d2e-0000-0000-0000-000000000001"), Group: []byte("g1"), Dedup: []byte("d 1"),
		Sender: []byte("AIDA"),
		Source: []byte("arn:aws:sqs:us-east-1:000000000000:orders"),
		Sent:   at("2026-11-01T10:00:00Z"), First: at("2026-11-01T11:00:00Z"), Now: at("2026-11-03T10:00:00Z"),
		Count: 3, Size: 10240,
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]bool{
		"": true, " \t ": true,
		"berg": true, "BERG": true, "ann berg": true, "ann cohen": false, `"\"order\":"`: true, `"sku\":\"a-1"`: true,
		"acme": true, "tenant": false, "0f3c8d2e": false, "0F3C8D2E-0000-0000-0000-000000000001": true, "g1": true,
		"a-1": true, "-a-1": false, "-cohen": true, "x.y": false,
		"attr.tenant:Acme": true, "attr.tenant:acme": false, "attr.tenant:A*": true, "attr.tenant:*me": true,
		"attr.tenant:*cm*": true,
		`attr.tenant:"A*"`: false, "attr.tenant:*": true, "attr.other:*": false, "-attr.other:*": true,
		`attr.tenant:""`:    false,
		"attr.trace.id:x:y": true, "attr.weight>1.5": false, "attr.weight>=1.5": true, "attr.weight<2": true,
		"attr.tenant>1":    false,
		"body.order.id:17": true, "body.order.id>16": true, "body.order.id<=16.9": false, "body.order.paid:true": true,
		"body.order.note:null": true, "body.order.note:*": true, "body.order.none:*": false, "body.order:*": true,
		"body.order:17":                        false,
		`body.order.customer:"Ann \"A\" Berg"`: true, "body.order.lines.1.sku:b-2": true,
		"body.order.lines.2.sku:b-2": false,
		"body.order.lines.*.sku:b-2": true, "body.order.lines.*.n>12345678901234567890": true,
		"body.order.lines.*.n>12345678901234567891": false,
		`body."order".id:17`:                        true, "body.*.id:17": true, "body.order.id.x:17": false,
		"body.order.id:1*": true,
		"sent>2026-11-01":  true, "sent<2026-11-01": false, "sent<2026-11-02": true, "sent>=2026-11-01T10:00:00Z": true,
		"sent>2026-11-01T11:30:00+02:00": true, "sent<2026-11-01T10:00": false, "first>2026-11-01T10:30": true,
		"age>2h": true, "age>=2d": true, "age>2d": false, "age<49h": true,
		"count:3": true, "count>=3": true, "count>3": false, "count<4": true,
		"size>10k": false, "size>=10k": true, "size:10k": true, "size<1m": true, "size>9999": true,
		"group:g1": true, "group:g*": true, "group:g": false, `dedup:"d 1"`: true, "id:0f3c*": true,
		"sender:AIDA": true, "source:*:orders": true, "source:*": true, "-sender:*": false,
		"group:g1 count>=3 -attr.tenant:Other": true, "group:g1 count>=4": false,
	} {
		q, err := search.Parse(filter)
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		if got := q.Match(order()); got != want {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
	}
	if !(*search.Query)(nil).Match(order()) {
		t.Error("an empty filter does not find all")
	}
}

// A message that lacks the field of a term is not found, but the term's opposite finds it.
func TestAbsent(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"first<2030-01-01", "body.a:1", "attr.a:*", "group:g", "source:*", "x"} {
		for _, body := range []string{"", "text", `{"a":`, `"a"`, "[", "{}"} {
			m := &search.Item{Body: []byte(body)}
			for not, want := range map[string]bool{"": false, "-": true} {
				q, err := search.Parse(not + filter)
				if err != nil || q.Match(m) != want && (filter != "x" || body != "text") {
					t.Errorf("%s%s of %q: not %v, %v", not, filter, body, want, err)
				}
			}
		}
	}
}

func TestReadsBody(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]bool{
		"": false, "word": true, "-word": true, "body.a:1": true,
		"attr.a:b group:c id:d sent>2026-01-01 count>1 size>1 age>1h": false,
		"group:c word": true,
	} {
		if q, err := search.Parse(filter); err != nil || q.ReadsBody() != want {
			t.Errorf("%s: not %v, %v", filter, want, err)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		"a colour:red":               `column 3: there is no field "colour"; there are attr.NAME, body.PATH`,
		"http://x":                   "in quotes to search for it",
		"sent:2026-11-01":            "column 1: sent is compared by < or > with a day",
		"sent>yesterday":             "a day such as 2026-11-01",
		"age>soon":                   "a duration such as 90s",
		"age:2h":                     "by < or >",
		"age>-2h":                    "a duration such as",
		"count>many":                 "a number such as 3",
		"count>-1":                   "a number such as 3",
		"size>10g":                   "bytes such as 500, 10k or 1m",
		"group>a":                    "by a colon only",
		"group.a:b":                  `no field "group.a"`,
		"attr:a":                     "the name of the attribute is missing",
		"body:a":                     "the path is missing",
		"body..a:b":                  "a step of the path is empty",
		"attr.a>b":                   `> compares numbers, and "b" is none`,
		"group:":                     "there is no value",
		"-":                          "a term has no text",
		`""`:                         "a term has no text",
		`"a`:                         "a quote is not closed",
		`"a\n"`:                      "a backslash in quotes",
		`"a"b`:                       "a space behind",
		`a"b"`:                       "a quote is in the middle",
		`"group":a`:                  "is not in quotes",
		`a."b"`:                      "put all of it in quotes",
		strings.Repeat("a ", 33):     "column 65: there are more than 32 terms",
		strings.Repeat("a.", 40):     "at most 16 steps",
		strings.Repeat("a", 1025):    "has 1025 bytes; it may have 1024",
		"\xff":                       "not UTF-8",
		"é colour:red":               "column 3",
		"count>99999999999999999999": "a number",
	} {
		_, err := search.Parse(filter)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", filter, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"word", `"two words" -x`, "attr.a:b* body.a.0.*:1 sent>2026-11-01 age>2h count>=3 size>10k group:x",
		`body."a b">1e5`, "-", "a.b.c<",
	} {
		f.Add(seed, `{"a":[{"b":1e5},"x\u0041"],"a b":2}`)
	}
	f.Fuzz(func(t *testing.T, filter, body string) {
		q, err := search.Parse(filter)
		if err != nil {
			return
		}
		m := order()
		m.Body = []byte(body)
		found := q.Match(m)
		if string(m.Body) != body {
			t.Error("the body was changed")
		}
		if !q.ReadsBody() && found != q.Match(order()) {
			t.Error("the body makes a difference")
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	body := order()
	body.Body = append(body.Body[:len(body.Body)-1:len(body.Body)-1],
		[]byte(`,"text":"`+strings.Repeat("Lorem ipsum ", 80)+`"}`)...)
	for _, filter := range []string{"cohen", "body.order.lines.*.sku:c-3", "body.none:1", "attr.tenant:Other",
		"count>5"} {
		q, err := search.Parse(filter)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filter, func(b *testing.B) {
			b.SetBytes(int64(len(body.Body)))
			for b.Loop() {
				if q.Match(body) {
					b.Fatal("found")
				}
			}
		})
	}
}

// A person searches for a text as it reads. A program may have escaped it.
func TestMatchEscaped(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		// only letters of ASCII have any case
		`{"name": "Zo\u00eb"}`: true, `{"name": "ZO\u00eb"}`: true, `"Zo\u00EB"`: true, `"Zo\u00CB"`: false,
		`{"Zo\u00eb": 1}`: true, `{"name": "Zo\\u00eb"}`: false, `Zo\u00eb`: false, `{"name": "Zoë"}`: true,
	} {
		q, err := search.Parse("zoë")
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Match(&search.Item{Body: []byte(body)}); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}
