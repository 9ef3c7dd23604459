package cloudtrail

import (
	"context"
	"errors"
	"net/netip"
	"regexp"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
)

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	nameNeighbor = regexp.MustCompile(`[._-]{2}`)
)

// checkName checks the name of a trail.
func checkName(name string) error {
	_, notAddress := netip.ParseAddr(name)
	switch {
	case name == "":
		return refusal("InvalidTrailNameException", "Trail name cannot be blank!")
	case len(name) < 3:
		return refusal(
			"InvalidTrailNameException",
			"Trail name too short. Minimum allowed length: 3 characters. Specified name length: %d characters.",
			len(name),
		)
	case len(name) > 128:
		return refusal(
			"InvalidTrailNameException",
			"Trail name too long. Maximum allowed length: 128 characters. Specified name length: %d characters.",
			len(name),
		)
	case !nameForm.MatchString(name):
		return refusal(
			"InvalidTrailNameException",
			"Trail name or ARN can only contain uppercase letters, lowercase letters, numbers, periods (.), hyphens (-), and underscores (_), and must begin and end with a letter or number.",
		)
	case nameNeighbor.MatchString(name):
		return refusal("InvalidTrailNameException", "Trail name cannot have adjacent periods, hyphens and underscores.")
	case notAddress == nil:
		return refusal("InvalidTrailNameException", "Trail name cannot be an IP address.")
	}
	return nil
}

// trailName reads how a request names a trail: by its name, in the region of the request, or by its ARN.
func trailName(c *protocol.Call, text *string) (trails.Name, error) {
	if text != nil && strings.HasPrefix(*text, "arn:") {
		return parseARN(*text)
	}
	n := trails.Name{Account: service.Caller(c).Account, Region: c.Region}
	if text != nil {
		n.Name = *text
	}
	return n, checkName(n.Name)
}

func parseARN(arn string) (trails.Name, error) {
	parts := strings.Split(arn, ":")
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "cloudtrail" || !identity.IsRegion(parts[3]) || !identity.IsAccount(parts[4]) {
		return trails.Name{}, refusal(
			"CloudTrailARNInvalidException",
			"The ARN %s is invalid: that of a trail is like arn:aws:cloudtrail:us-east-1:123456789012:trail/MyTrail.",
			service.Shorten(arn),
		)
	}
	name, ok := strings.CutPrefix(parts[5], "trail/")
	if !ok {
		return trails.Name{}, refusal(
			"ResourceTypeNotSupportedException",
			"The resource %s is no trail, and this server has no others.",
			service.Shorten(arn),
		)
	}
	return trails.Name{Account: parts[4], Region: parts[3], Name: name}, checkName(name)
}

// find returns the trail that a request names, if the caller may take an action on it.
func (s *Service) find(c *protocol.Call, action string, text *string) (*trails.Trail, error) {
	n, err := trailName(c, text)
	if err != nil {
		return nil, err
	}
	return s.allow(c, action, n, service.Subject{})
}

// allow returns the trail of a name, if the caller may take an action on it.
func (s *Service) allow(c *protocol.Call, action string, n trails.Name, about service.Subject) (*trails.Trail, error) {
	c.Notes.Set("trail", n.Name)
	about.Resource, about.Owner = service.ARN(n.ARN()), n.Account
	t := s.trails.Find(n)
	if t != nil {
		about.Tags = t.Tags
	}
	if err := s.authorizer.Authorize(c, about, "cloudtrail:"+action); err != nil {
		return nil, err
	}
	if t == nil {
		return nil, errNoTrail(n)
	}
	return t, nil
}

// findHere is find for operations that only the trail's own region can perform.
func (s *Service) findHere(c *protocol.Call, action string, text *string) (*trails.Trail, error) {
	t, err := s.find(c, action, text)
	if err == nil && t.Region != c.Region {
		return nil, refusal(
			"InvalidHomeRegionException", "The trail %s can be changed in its home region %s only.", t.Name.Name,
			t.Region,
		)
	}
	return t, err
}

// edit changes a trail, and returns the new trail.
func (s *Service) edit(ctx context.Context, n trails.Name, f func(*trails.Trail) error) (*trails.Trail, error) {
	is, err := control.Decide(ctx, s.trails.Change, func(tx *trails.Tx) (*trails.Trail, error) {
		t := s.trails.Find(n)
		if t == nil {
			return nil, errNoTrail(n)
		}
		is := t.Clone()
		if err := f(is); err != nil {
			return nil, err
		}
		tx.Put(is)
		return is, nil
	})
	return is, service.Failure(err)
}

func errNoTrail(n trails.Name) error {
	return refusal("TrailNotFoundException", "Unknown trail: %s for the user: %s", n.ARN(), n.Account)
}

// checkBucket checks the name of a bucket, that the bucket exists, and that trails of the account may write to it.
func (s *Service) checkBucket(ctx context.Context, account, name string) error {
	if name == "" {
		return refusal("InvalidS3BucketNameException", "Bucket name cannot be blank!")
	}
	if err := bucket.CheckName(name); err != nil {
		return refusal("InvalidS3BucketNameException", "The bucket name is invalid: %s.", err)
	}
	if s.buckets == nil {
		return refusal(
			"S3BucketDoesNotExistException",
			"S3 bucket %s does not exist: this server has no buckets. Its operator gives it some with --trail-dir or --trail-s3-endpoint.",
			name,
		)
	}
	err := s.owners.Check(name, account)
	if err == nil {
		err = s.buckets.Find(ctx, name)
	}
	switch {
	case errors.Is(err, bucket.ErrNoBucket):
		return refusal("S3BucketDoesNotExistException", "S3 bucket %s does not exist!", name)
	case errors.Is(err, bucket.ErrDenied):
		return refusal(
			"InsufficientS3BucketPolicyException", "Incorrect S3 bucket policy is detected for bucket: %s", name,
		)
	case err != nil:
		return service.Unavailable("The place of the bucket cannot be reached. Please try again later.", err)
	}
	return nil
}

// checkPrefix checks the prefix of keys in a bucket.
func checkPrefix(prefix string) error {
	if len(prefix) > 200 {
		return refusal("InvalidS3PrefixException", "The S3 key prefix is too long. Maximum allowed length: 200 characters.")
	}
	if prefix == "" {
		return nil
	}
	if strings.Contains(prefix, logfile.Root) {
		return refusal(
			"InvalidS3PrefixException",
			"The S3 key prefix is invalid: it contains %s, which follows the prefix in the name of each file.",
			logfile.Root,
		)
	}
	if err := bucket.CheckKey(prefix); err != nil {
		return refusal("InvalidS3PrefixException", "The S3 key prefix is invalid: %s.", err)
	}
	return nil
}

// checkTopic returns the ARN of the topic that a request names by its name or ARN. The answer does not tell a topic
// that is not there from one whose policy does not let CloudTrail publish for the trail.
func (s *Service) checkTopic(c *protocol.Call, trail trails.Name, name string) (arn string, err error) {
	if name == "" {
		return "", nil
	}
	arn = name
	if !strings.HasPrefix(name, "arn:") {
		if !service.ValidName(name, 256) {
			return "", refusal(
				"InvalidSnsTopicNameException",
				"SNS topic name is invalid: it has 1 to 256 letters, digits, hyphens and underscores, or is the ARN of a topic.",
			)
		}
		arn = "arn:aws:sns:" + c.Region + ":" + service.Caller(c).Account + ":" + name
	}
	if !s.mayPublish(arn, trail) {
		return "", refusal(
			"InsufficientSnsTopicPolicyException", "SNS Topic does not exist or the topic policy is incorrect!",
		)
	}
	return arn, nil
}
