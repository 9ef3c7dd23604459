package selector

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Limits of the selectors of a trail.
const (
	MaxBasic  = 5
	MaxValues = 500 // of all fields of advanced selectors together
	MaxValue  = 2048
	MaxName   = 1000
	// MaxResources is the maximum number of values of the data resources of all basic selectors together.
	MaxResources = 250
)

// ResourceTypes are the types of resources whose data events a trail can get.
var ResourceTypes = []string{"AWS::SQS::Queue", "AWS::SNS::Topic"}

// basicTypes are the types of resources in basic selectors, with the prefixes of their ARNs. This server has none of
// them.
var basicTypes = map[string]string{
	"AWS::DynamoDB::Table": "arn:aws:dynamodb", "AWS::Lambda::Function": "arn:aws:lambda",
	"AWS::S3::Object": "arn:aws:s3",
}

// basicForms are the ARNs of resources in basic selectors, by type: the short ones are of all resources of the type.
var basicForms = map[string]*regexp.Regexp{
	"AWS::DynamoDB::Table":  regexp.MustCompile(`^arn:aws:dynamodb(:[a-z0-9-]+:[0-9]{12}:table/.+)?$`),
	"AWS::Lambda::Function": regexp.MustCompile(`^arn:aws:lambda(:[a-z0-9-]+:[0-9]{12}:function:.+)?$`),
	"AWS::S3::Object":       regexp.MustCompile(`^arn:aws:s3(:::([^/*]+/.*)?)?$`),
}

// advancedTypes are the types of resources in advanced selectors.
var advancedTypes = slices.Concat(ResourceTypes, slices.Sorted(maps.Keys(basicTypes)))

// Check returns an error that describes a mistake in the selectors, and the correction.
func (s *Set) Check() error {
	if len(s.Basic) > 0 && len(s.Advanced) > 0 {
		return errors.New("a trail has event selectors or advanced event selectors, not both")
	}
	if len(s.Basic) > MaxBasic {
		return &Refusal{fmt.Sprintf("Specify a valid number of selectors (1 to %d) for your trail.", MaxBasic)}
	}
	count := 0
	for i := range s.Basic {
		n, err := s.Basic[i].check()
		if err != nil {
			return err
		}
		count += n
	}
	if count > MaxResources {
		return &Refusal{fmt.Sprintf("Specify a valid number of DataResources.Values (0 to %d) for all your selectors.", MaxResources)}
	}
	count = 0
	for i := range s.Advanced {
		n, err := s.Advanced[i].check()
		if err != nil {
			return fmt.Errorf("advanced event selector %d: %w", i+1, err)
		}
		count += n
	}
	if count > MaxValues {
		return fmt.Errorf("the advanced event selectors of a trail have at most %d values together, not %d", MaxValues, count)
	}
	return nil
}

// CheckNew is Check for the selectors that a client sets. Trails may have others, which earlier versions accepted.
func (s *Set) CheckNew() error {
	if err := s.Check(); err != nil {
		return err
	}
	for _, b := range s.Basic {
		if b.NoManagement && len(b.DataResources) == 0 {
			return &Refusal{"Invalid combination of parameters in EventSelectors. " +
				"When includeManagementEvents is false, DataResources must not be empty."}
		}
		for _, r := range b.DataResources {
			form := basicForms[r.Type]
			if i := slices.IndexFunc(r.Values, func(v string) bool { return !form.MatchString(v) }); i >= 0 {
				return badValue(r.Values[i])
			}
		}
	}
	return nil
}

// check also returns the number of data resources.
func (b *Basic) check() (count int, err error) {
	if !slices.Contains([]string{All, ReadOnly, WriteOnly}, b.ReadWrite) {
		return 0, fmt.Errorf("ReadWriteType is %s, %s or %s", All, ReadOnly, WriteOnly)
	}
	for _, source := range b.ExcludeSources {
		if !strings.HasSuffix(source, ".amazonaws.com") {
			return 0, errors.New("an event source is called like kms.amazonaws.com")
		}
	}
	for i := range b.DataResources {
		if err := b.DataResources[i].check(); err != nil {
			return 0, err
		}
		count += len(b.DataResources[i].Values)
	}
	return count, nil
}

// Refusal is a mistake in AWS's words.
type Refusal struct{ text string }

func (r *Refusal) Error() string { return r.text }

func (r *DataResource) check() error {
	begins, ok := basicTypes[r.Type]
	if !ok {
		return &Refusal{fmt.Sprintf("Value %.256s for DataResources.Type is invalid.", r.Type)}
	}
	for _, v := range r.Values {
		if !strings.HasPrefix(v, begins) || len(v) > MaxValue {
			return badValue(v)
		}
	}
	return nil
}

func badValue(v string) *Refusal {
	return &Refusal{fmt.Sprintf("Value %.256s for DataResources.Values is invalid.", v)}
}

// check also returns the number of values.
func (a *Advanced) check() (count int, err error) {
	if len(a.Name) > MaxName {
		return 0, fmt.Errorf("its name is longer than %d characters", MaxName)
	}
	category, seen := "", make(map[string]bool)
	for i := range a.Fields {
		f := &a.Fields[i]
		if seen[f.Name] {
			return 0, fmt.Errorf("the field %s is there twice", f.Name)
		}
		seen[f.Name] = true
		n, err := f.check()
		if err != nil {
			return 0, err
		}
		count += n
		if f.Name == fieldCategory {
			category = f.Equals[0]
		}
	}
	switch {
	case category == "":
		return 0, fmt.Errorf("it needs the field %s, which equals %s or %s", fieldCategory, Management, Data)
	case category == Data && !seen[fieldType]:
		return 0, fmt.Errorf("for data events it needs the field %s, which equals %s",
			fieldType, strings.Join(advancedTypes, " or "))
	case category == Management && (seen[fieldType] || seen[fieldARN]):
		return 0, fmt.Errorf("the fields %s and %s are for data events", fieldType, fieldARN)
	}
	return count, nil
}

// exact are the fields that accept only the operator Equals and one of these values.
var exact = map[string][]string{
	fieldCategory: {Management, Data}, fieldReadOnly: {"true", "false"}, fieldType: advancedTypes,
}

// check also returns the number of values.
func (f *Field) check() (count int, err error) {
	all := [][]string{f.Equals, f.StartsWith, f.EndsWith, f.NotEquals, f.NotStartsWith, f.NotEndsWith}
	for _, values := range all {
		count += len(values)
		for _, v := range values {
			if v == "" || len(v) > MaxValue {
				return 0, fmt.Errorf("the field %s: a value has 1 to %d characters", f.Name, MaxValue)
			}
		}
	}
	if count == 0 {
		return 0, fmt.Errorf("the field %s has no operator", f.Name)
	}
	allowed, only := exact[f.Name]
	switch {
	case only && (count != 1 || len(f.Equals) != 1 || !slices.Contains(allowed, f.Equals[0])):
		return 0, fmt.Errorf(
			"the field %s takes the operator Equals with one value: %s", f.Name, strings.Join(allowed, " or "),
		)
	case !only && !slices.Contains([]string{fieldARN, fieldName, fieldSource, fieldWho, fieldKind}, f.Name):
		all := []string{
			fieldCategory, fieldReadOnly, fieldName, fieldSource, fieldKind, fieldWho, fieldType, fieldARN,
		}
		return 0, fmt.Errorf("events have no field of that name to select by; there are %s", strings.Join(all, ", "))
	}
	return count, nil
}
