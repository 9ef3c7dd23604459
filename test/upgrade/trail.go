package upgrade

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bucket is the directory below the server's --trail-dir that trails of fixtures deliver to.
const Bucket = "audit"

// trails makes a trail, and a call that it selects and has not delivered yet.
func (f *filler) trails() error {
	const name = "everything"
	if err := f.CloudTrail(
		f.ctx, "CreateTrail", map[string]any{"Name": name, "S3BucketName": Bucket}, nil,
	); err != nil {
		return err
	}
	if err := f.CloudTrail(f.ctx, "StartLogging", map[string]string{"Name": name}, nil); err != nil {
		return err
	}
	f.content.Trails = append(f.content.Trails, name)
	_, err := f.create("told", nil)
	return err
}

// insights has trails look for unusual numbers of calls.
func (f *filler) insights() error {
	for _, name := range f.content.Trails {
		if err := f.CloudTrail(f.ctx, "PutInsightSelectors", map[string]any{
			"TrailName": name, "InsightSelectors": []map[string]string{{"InsightType": insight}},
		}, nil); err != nil {
			return err
		}
		f.content.Insights = append(f.content.Insights, name)
	}
	return nil
}

const insight = "ApiCallRateInsight"

// insights checks that a trail has the insights.
func (k *checker) insights(name string) error {
	var found struct {
		InsightSelectors []struct{ InsightType string }
	}
	err := k.CloudTrail(k.ctx, "GetInsightSelectors", map[string]string{"TrailName": name}, &found)
	if err == nil && (len(found.InsightSelectors) != 1 || found.InsightSelectors[0].InsightType != insight) {
		err = fmt.Errorf("trail %s: its insights are %+v", name, found.InsightSelectors)
	}
	return err
}

// trail checks that a trail is there and has delivered what it had selected before, some minutes later.
func (k *checker) trail(name string) error {
	return k.persist(func() error {
		var status struct {
			IsLogging           bool
			LatestDeliveryTime  float64
			LatestDeliveryError string
		}
		if err := k.CloudTrail(k.ctx, "GetTrailStatus", map[string]string{"Name": name}, &status); err != nil {
			return err
		}
		delivered, err := k.delivered()
		if err != nil {
			return err
		}
		if !status.IsLogging || status.LatestDeliveryTime == 0 || !strings.Contains(delivered, "CreateQueue told") {
			return fmt.Errorf("trail %s: its status is %+v, delivered was %q", name, status, delivered)
		}
		return nil
	})
}

// delivered returns what the files in the bucket tell: events, and the queues that they made.
func (k *checker) delivered() (string, error) {
	var out strings.Builder
	err := filepath.WalkDir(filepath.Join(k.trailDir, Bucket), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json.gz") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		var file struct {
			Records []struct {
				EventName         string
				RequestParameters struct{ QueueName string }
			}
		}
		text, err := gzip.NewReader(f)
		if err == nil {
			err = json.NewDecoder(text).Decode(&file)
		}
		for _, e := range file.Records {
			fmt.Fprintln(&out, e.EventName, e.RequestParameters.QueueName)
		}
		return errors.Join(err, f.Close())
	})
	return out.String(), err
}
