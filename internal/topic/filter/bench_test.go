package filter

import (
	"strings"
	"testing"
)

const benchPolicy = `{"store": ["example_corp"], "event": [{"anything-but": "order_cancelled"}], "price_usd": [{"numeric": [">=", 100]}], "interests": ["rugby", "tennis"]}`

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(benchPolicy, MessageBody); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAttributes compares one message with a hundred policies, as a publish does.
func BenchmarkAttributes(b *testing.B) {
	p := mustParse(b, benchPolicy, MessageAttributes)
	attributes := []Attribute{
		{"store", "String", "example_corp"}, {"event", "String", "order_placed"}, {"price_usd", "Number", "210.75"},
		{"interests", "String.Array", `["soccer", "rugby", "hockey"]`},
	}
	benchmark(b, p, func() *Message { return NewMessage("", attributes) })
}

func BenchmarkBody(b *testing.B) {
	small := `{"store": "example_corp", "event": "order_placed", "price_usd": 210.75, "interests": ["soccer", "rugby", "hockey"]}`
	for name, body := range map[string]string{
		"200B":  small,
		"256KB": `{"rest": [` + strings.TrimSuffix(strings.Repeat(small+",", 2000), ",") + `],` + small[1:],
	} {
		b.Run(name, func(b *testing.B) {
			p := mustParse(b, benchPolicy, MessageBody)
			benchmark(b, p, func() *Message { return NewMessage(body, nil) })
		})
	}
}

func benchmark(b *testing.B, p *Policy, message func() *Message) {
	b.ReportAllocs()
	for b.Loop() {
		m := message()
		for range 100 {
			if !p.Matches(m) {
				b.Fatal("held")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/policy")
}
