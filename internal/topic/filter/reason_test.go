package filter

import "testing"

func TestReasons(t *testing.T) {
	t.Parallel()
	array := Attribute{"tags", "String.Array", `["a"]`}
	for _, c := range []struct {
		scope      Scope
		body       string
		attributes []Attribute
		want       Reason
	}{
		{MessageAttributes, `{"stage":["live"]}`, nil, NoAttributes},
		{MessageAttributes, "", []Attribute{{"stage", "String", "test"}}, OtherAttributes},
		{MessageAttributes, "", []Attribute{{"other", "String", "live"}, array}, OtherAttributes},
		{MessageAttributes, "", []Attribute{{"stage", "String.Array", `["live"`}}, InvalidAttributes},
		{MessageAttributes, "", []Attribute{array, {"other", "String.Array", `"live"`}}, InvalidAttributes},
		{MessageBody, `{"stage":"test"}`, nil, OtherBody},
		{MessageBody, `["live"]`, []Attribute{{"stage", "String", "live"}}, InvalidBody},
		{MessageBody, `live`, nil, InvalidBody},
	} {
		p, err := Parse(`{"stage":["live"]}`, c.scope)
		if err != nil {
			t.Fatal(err)
		}
		m := NewMessage(c.body, c.attributes)
		if p.Matches(m) {
			t.Errorf("%+v matches", c)
		}
		if got := p.Reason(m); got != c.want {
			t.Errorf("%+v: %d, want %d", c, got, c.want)
		}
	}
}
