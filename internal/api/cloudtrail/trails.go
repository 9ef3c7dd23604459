package cloudtrail

import (
	"context"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
)

// maxTrails is how many trails a region of an account can have, with those of other regions that are for all.
const maxTrails = 5

// maxAccountTrails is how many trails an account can have in all regions together: clients may make up regions.
const maxAccountTrails = 10 * maxTrails

// trailSettings are what CreateTrail and UpdateTrail have in common.
type trailSettings struct {
	CloudWatchLogsLogGroupArn  *string `max:"2048"`
	CloudWatchLogsRoleArn      *string `max:"2048"`
	EnableLogFileValidation    *bool
	IncludeGlobalServiceEvents *bool
	IsMultiRegionTrail         *bool
	IsOrganizationTrail        *bool
	KmsKeyId                   *string `max:"2048"`
	Name                       *string `max:"300"`
	S3BucketName               *string `max:"1024"`
	S3KeyPrefix                *string `max:"1024"`
	SnsTopicName               *string `max:"1024"`
}

type createTrailInput struct {
	trailSettings
	TagsList []service.Tag `max:"200"`
}

type updateTrailInput struct{ trailSettings }

// shownTrail is a trail as operations return it.
type shownTrail struct {
	HasCustomEventSelectors    *bool
	HasInsightSelectors        *bool
	HomeRegion                 string `json:",omitempty"`
	IncludeGlobalServiceEvents bool
	IsMultiRegionTrail         bool
	IsOrganizationTrail        bool
	LogFileValidationEnabled   bool
	Name                       string
	RecursiveLogging           bool // of deliveries, which leave no events here
	S3BucketName               string
	S3KeyPrefix                string `json:",omitempty"`
	SnsTopicARN                string `json:",omitempty"`
	SnsTopicName               string `json:",omitempty"`
	TrailARN                   string
}

// show returns a trail as CreateTrail and UpdateTrail return it.
func show(t *trails.Trail) *shownTrail {
	return &shownTrail{
		IncludeGlobalServiceEvents: !t.NoGlobal, IsMultiRegionTrail: t.MultiRegion,
		LogFileValidationEnabled: t.Validate,
		Name:                     t.Name.Name, RecursiveLogging: true, S3BucketName: t.Bucket, S3KeyPrefix: t.Prefix,
		SnsTopicARN: t.Topic, SnsTopicName: t.Topic[strings.LastIndexByte(t.Topic, ':')+1:], TrailARN: t.ARN(),
	}
}

// describe returns a trail in the form of the operations that read trails.
func describe(t *trails.Trail) shownTrail {
	out := show(t)
	custom, insights := !t.Selectors.Empty(), len(t.Insights) > 0
	out.HasCustomEventSelectors, out.HasInsightSelectors, out.HomeRegion = &custom, &insights, t.Region
	return *out
}

// apply checks the settings and applies them to a trail. Settings that the request does not name stay.
func (s *Service) apply(ctx context.Context, c *protocol.Call, in *trailSettings, t *trails.Trail) error {
	for _, lacking := range []struct {
		given bool
		what  string
	}{
		{given(in.CloudWatchLogsLogGroupArn) || given(in.CloudWatchLogsRoleArn), "log groups of CloudWatch Logs"},
		{given(in.KmsKeyId), "keys of KMS"},
		{in.IsOrganizationTrail != nil && *in.IsOrganizationTrail, "organizations"},
	} {
		if lacking.given {
			return refusal("UnsupportedOperationException", "This server has no %s.", lacking.what)
		}
	}
	if in.S3BucketName != nil {
		if err := s.checkBucket(ctx, t.Account, *in.S3BucketName); err != nil {
			return err
		}
		t.Bucket = *in.S3BucketName
	}
	if in.S3KeyPrefix != nil {
		prefix := strings.TrimSuffix(*in.S3KeyPrefix, "/")
		if err := checkPrefix(prefix); err != nil {
			return err
		}
		t.Prefix = prefix
	}
	if in.SnsTopicName != nil {
		arn, err := s.checkTopic(c, t.Name, *in.SnsTopicName)
		if err != nil {
			return err
		}
		t.Topic = arn
	}
	set := func(to *bool, from *bool, negated bool) {
		if from != nil {
			*to = *from != negated
		}
	}
	set(&t.Validate, in.EnableLogFileValidation, false)
	set(&t.MultiRegion, in.IsMultiRegionTrail, false)
	set(&t.NoGlobal, in.IncludeGlobalServiceEvents, true)
	if t.MultiRegion && t.NoGlobal {
		return refusal("InvalidParameterCombinationException", "Multi-Region trail must include global service events.")
	}
	return nil
}

func given(s *string) bool { return s != nil && *s != "" }

func (s *Service) createTrail(ctx context.Context, c *protocol.Call, in *createTrailInput) (*shownTrail, error) {
	if err := checkName(*in.Name); err != nil {
		return nil, err
	}
	tags, err := checkTags(in.TagsList)
	if err != nil {
		return nil, err
	}
	n := trails.Name{Account: service.Caller(c).Account, Region: c.Region, Name: *in.Name}
	c.Notes.Set("trail", n.Name)
	subject := service.Subject{Resource: service.ARN(n.ARN()), NewTags: tags}
	if err := s.authorizer.Authorize(c, subject, "cloudtrail:CreateTrail"); err != nil {
		return nil, err
	}
	if !identity.IsRegion(n.Region) {
		return nil, refusal(
			"InvalidParameterException",
			"A trail belongs to a region, and the request is for none: its signature names one like us-east-1.",
		)
	}
	t := &trails.Trail{Name: n, Tags: tags}
	if err := s.apply(ctx, c, &in.trailSettings, t); err != nil {
		return nil, err
	}
	err = s.change(ctx, true, func(tx *trails.Tx) error {
		if s.trails.Find(n) != nil {
			return refusal("TrailAlreadyExistsException", "Trail %s already exists for customer: %s", n.Name, n.Account)
		}
		if here := len(s.seen(c, true)); here >= maxTrails {
			return refusal(
				"MaximumNumberOfTrailsExceededException", "User: %s already has %d trails in %s.", n.Account, here,
				n.Region,
			)
		}
		if all := len(s.trails.Of(n.Account)); all >= maxAccountTrails {
			return refusal(
				"MaximumNumberOfTrailsExceededException", "User: %s already has %d trails in all regions.",
				n.Account, all,
			)
		}
		return tx.Create(t, s.authorizer.Now())
	})
	if err != nil {
		return nil, err
	}
	return show(t), nil
}

func (s *Service) updateTrail(ctx context.Context, c *protocol.Call, in *updateTrailInput) (*shownTrail, error) {
	t, err := s.findHere(c, "UpdateTrail", in.Name)
	if err != nil {
		return nil, err
	}
	changed := t.Clone()
	if err := s.apply(ctx, c, &in.trailSettings, changed); err != nil {
		return nil, err
	}
	is, err := s.edit(ctx, t.Name, func(t *trails.Trail) error {
		t.Bucket, t.Prefix, t.Topic = changed.Bucket, changed.Prefix, changed.Topic
		t.Validate, t.MultiRegion, t.NoGlobal = changed.Validate, changed.MultiRegion, changed.NoGlobal
		return nil
	})
	if err != nil {
		return nil, err
	}
	return show(is), nil
}

type trailInput struct {
	Name *string `max:"300"`
}

func (s *Service) deleteTrail(ctx context.Context, c *protocol.Call, in *trailInput) (*service.Empty, error) {
	t, err := s.findHere(c, "DeleteTrail", in.Name)
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, false, func(tx *trails.Tx) error {
		now := s.trails.Find(t.Name)
		if now == nil {
			return errNoTrail(t.Name)
		}
		tx.Delete(now)
		return nil
	})
}

// seen returns the trails that the caller has in the region of a request: those that belong there, and the shadows of
// those that other regions have for all.
func (s *Service) seen(c *protocol.Call, shadows bool) []*trails.Trail {
	return service.Filter(s.trails.Of(service.Caller(c).Account), func(t *trails.Trail) bool {
		return t.Region == c.Region || shadows && t.MultiRegion
	})
}

type describeTrailsInput struct {
	IncludeShadowTrails *bool    `json:"includeShadowTrails"`
	TrailNameList       []string `json:"trailNameList"       max:"100,300"`
}

type describeTrailsOutput struct {
	TrailList []shownTrail `json:"trailList,always"`
}

func (s *Service) describeTrails(
	_ context.Context, c *protocol.Call, in *describeTrailsInput,
) (*describeTrailsOutput, error) {
	if err := s.authorizer.Authorize(
		c, service.Subject{Resource: service.ARN("*")}, "cloudtrail:DescribeTrails",
	); err != nil {
		return nil, err
	}
	shadows := in.IncludeShadowTrails == nil || *in.IncludeShadowTrails
	all := s.seen(c, shadows)
	if len(in.TrailNameList) > 0 {
		var err error
		if all, err = s.named(c, in.TrailNameList, shadows); err != nil {
			return nil, err
		}
	}
	return &describeTrailsOutput{service.Convert(all, describe)}, nil
}

// named returns those of the caller's trails that have the given names in the region of the request, or the given ARNs:
// in any region, if shadows are wanted.
func (s *Service) named(c *protocol.Call, list []string, shadows bool) ([]*trails.Trail, error) {
	wanted := make(map[trails.Name]bool)
	for _, text := range list {
		n, err := trailName(c, &text)
		if err != nil {
			return nil, err
		}
		wanted[n] = true
	}
	return service.Filter(s.trails.Of(service.Caller(c).Account), func(t *trails.Trail) bool {
		return wanted[t.Name] && (shadows || t.Region == c.Region)
	}), nil
}

type getTrailOutput struct{ Trail shownTrail }

func (s *Service) getTrail(_ context.Context, c *protocol.Call, in *trailInput) (*getTrailOutput, error) {
	t, err := s.find(c, "GetTrail", in.Name)
	if err != nil {
		return nil, err
	}
	return &getTrailOutput{describe(t)}, nil
}

type listTrailsInput struct {
	NextToken *string `max:"1024"`
}

type trailInfo struct {
	HomeRegion string
	Name       string
	TrailARN   string
}

type listTrailsOutput struct {
	NextToken string      `json:",omitempty"`
	Trails    []trailInfo `json:",always"`
}

// trailsPage is how many trails ListTrails returns at a time.
const trailsPage = 100

func (s *Service) listTrails(_ context.Context, c *protocol.Call, in *listTrailsInput) (*listTrailsOutput, error) {
	if err := s.authorizer.Authorize(
		c, service.Subject{Resource: service.ARN("*")}, "cloudtrail:ListTrails",
	); err != nil {
		return nil, err
	}
	token := ""
	if in.NextToken != nil {
		token = *in.NextToken
	}
	key := func(t *trails.Trail) string { return t.Name.Name + "/" + t.Region }
	p, err := service.Paginate(s.trails.Of(service.Caller(c).Account), key, token, "trails", trailsPage)
	if err != nil {
		return nil, errToken()
	}
	return &listTrailsOutput{NextToken: p.Next, Trails: service.Convert(p.Items, func(t *trails.Trail) trailInfo {
		return trailInfo{t.Region, t.Name.Name, t.ARN()}
	})}, nil
}
