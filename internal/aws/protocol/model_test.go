package protocol

import (
	"context"
	"strings"
	"testing"
)

type modelTag struct {
	Key   string `max:"200"`
	Value string `max:"200"`
}

type modelInput struct {
	Name     *string `max:"64"`
	Path     *string `max:"512"`
	Secret   *string `max:"64" hidden:""`
	Size     *int32
	State    *string    `max:"64"`
	Tags     []modelTag `wrap:"member" max:"5"`
	Keys     []string   `wrap:"member" max:"10,8"`
	Settings *struct {
		Mode *string `max:"64"`
	}
}

const modelText = `
# a comment
string name 2..64 pattern [\w]+
string path 1..512 says path pattern (\u002F)|(\u002F[\u0021-\u007E]+\u002F)
string secret 3.. sensitive
string state enum On Off
string key 1..8
string value ..3
number size 1..10
structure tag Key!:key Value!:value
list tags tag ..2
list keys key 1..3
structure settings Mode!:state

operation Do Name!:name Path:path Secret:secret Size:size State:state Tags:tags Keys:keys Settings:settings
`

func TestModel(t *testing.T) {
	t.Parallel()
	s := NewService(Service{
		Name: "test", Versions: []string{"2020-01-01"}, Model: modelText,
		Sentences: map[string]string{"path": "The path %s is none."},
	})
	ran := false
	Register(s, "Do", func(context.Context, *Call, *modelInput) (*struct{}, error) { ran = true; return nil, nil })
	Register(s, "Other", func(context.Context, *Call, *modelInput) (*struct{}, error) { return nil, nil })
	for _, c := range []struct{ form, want string }{
		{"Name=ab", ""},
		{"Name=ab&Path=/&Secret=abc&Size=10&State=On&Keys.member.1=k&Tags.member.1.Key=k&Tags.member.1.Value=&Settings.Mode=Off", ""},
		{"", "1 validation error detected: Value null at 'name' failed to satisfy constraint: Member must not be null"},
		{"Name=",
			"2 validation errors detected: Value '' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w]+; " +
				"Value '' at 'name' failed to satisfy constraint: Member must have length greater than or equal to 2"},
		{"Name=%C3%A9%C3%A9",
			"1 validation error detected: Value 'éé' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w]+"},
		{"Name=ab&Path=x", "The path path is none."},
		{"Path=x&Size=11",
			"2 validation errors detected: Value null at 'name' failed to satisfy constraint: Member must not be null; " +
				"Value '11' at 'size' failed to satisfy constraint: Member must have value less than or equal to 10"},
		{"Name=ab&Secret=x",
			"1 validation error detected: Value at 'secret' failed to satisfy constraint: Member must have length greater than or equal to 3"},
		{"Name=ab&State=Of",
			"1 validation error detected: Value 'Of' at 'state' failed to satisfy constraint: Member must satisfy enum value set: [On, Off]"},
		{"Name=ab&Settings.Mode=",
			"1 validation error detected: Value '' at 'settings.mode' failed to satisfy constraint: Member must satisfy enum value set: [On, Off]"},
		{"Name=ab&Tags.member.1.Value=long",
			"2 validation errors detected: Value '' at 'tags.1.member.key' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 1; Value 'long' at 'tags.1.member.value' failed to satisfy constraint: Member must have length less than or equal to 3"},
		{"Name=ab&Tags.member.1.Key=a&Tags.member.2.Key=b&Tags.member.3.Key=c",
			"1 validation error detected: Value '[, , ]' at 'tags' failed to satisfy constraint: " +
				"Member must have length less than or equal to 2"},
		{"Name=ab&Keys.member.1=a&Keys.member.2=",
			"1 validation error detected: Value '[a, ]' at 'keys' failed to satisfy constraint: Member must satisfy constraint: " +
				"[Member must have length less than or equal to 8, Member must have length greater than or equal to 1]"},
		{"Name=ab&Keys.member.1=123456789",
			"1 validation error detected: Value '[123456789]' at 'keys' failed to satisfy constraint: Member must satisfy constraint: " +
				"[Member must have length less than or equal to 8, Member must have length greater than or equal to 1]"},
		{"Name=" + strings.Repeat("a", 65),
			"1 validation error detected: Value '" + strings.Repeat("a", 65) +
				"' at 'name' failed to satisfy constraint: " +
				"Member must have length less than or equal to 64"},
	} {
		ran = false
		err := callForm(t, s, "Do", c.form)
		switch {
		case c.want == "" && (err != nil || !ran):
			t.Errorf("%s: %v", c.form, err)
		case c.want != "" &&
			(err == nil || ran || AsError(err).Message != c.want || AsError(err).Code != "ValidationError"):
			t.Errorf("%s:\n got %v\nwant %s", c.form, err, c.want)
		}
	}
	if err := callForm(t, s, "Other", ""); err != nil {
		t.Errorf("an operation without a model: %v", err)
	}
}

// callForm runs an operation with parameters.
func callForm(t *testing.T, s *Service, name, form string) error {
	t.Helper()
	values, err := appendForm(nil, form)
	if err != nil {
		t.Fatal(err)
	}
	op := s.operations[name]
	in, err := op.Decode(&Request{Kind: Query, Operation: name, Form: values})
	if err != nil {
		return err
	}
	_, err = op.Invoke(t.Context(), &Call{}, in)
	return err
}

func TestModelsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, says string }{
		{"strings x 1..2", "unknown kind"},
		{"string x 1-2", "is no range"},
		{"string x says what pattern a", "is no range"},
		{"string x 1..a", "invalid syntax"},
		{"operation Do Name:absent", "no type"},
		{"string", "no name"},
		{"list x", "type of its elements"},
		{"string x 1..2\nstring x 1..2", "taken"},
		{"operation Do Nothing!", "no member"},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, c.says) {
					t.Errorf("%s: %q", c.text, got)
				}
			}()
			s := NewService(Service{Name: "test", Model: c.text})
			Register(s, "Do", func(context.Context, *Call, *modelInput) (*struct{}, error) { return nil, nil })
		}()
	}
}
