package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newTopicCreate(server *clientFlags) *cobra.Command {
	var attributes, tags []string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a topic",
		Long: `Create a topic, and print its ARN. One whose name ends in .fifo is a FIFO topic. If it
exists with the same attributes, nothing changes.`,
		Example: `  sluice topic create news
  sluice topic create orders.fifo --attribute ContentBasedDeduplication=true --tag team=sales`,
		Args: arguments("NAME"),
	}
	f := cmd.Flags()
	f.StringArrayVar(&attributes, "attribute", nil, "any attribute of SNS, as Name=value; repeatable")
	f.StringArrayVar(&tags, "tag", nil, "tag, as key=value; repeatable")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		params, err := topicParameters(c.args[0], attributes, tags)
		if err != nil {
			return nil, usage(err)
		}
		var made createdTopic
		if err := c.sns(ctx, "CreateTopic", &made, params...); err != nil {
			return nil, err
		}
		return made, nil
	})
}

// topicParameters returns the parameters of CreateTopic.
func topicParameters(name string, attributes, tags []string) ([]string, error) {
	set, err := pairs("--attribute", attributes)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".fifo") {
		set["FifoTopic"] = "true"
	}
	tagged, err := pairs("--tag", tags)
	if err != nil {
		return nil, err
	}
	params := append([]string{"Name", name}, entries(set)...)
	for i, key := range slices.Sorted(maps.Keys(tagged)) {
		at := fmt.Sprintf("Tags.member.%d.", i+1)
		params = append(params, at+"Key", key, at+"Value", tagged[key])
	}
	return params, nil
}

// entries returns attributes in the form of SNS.
func entries(attributes map[string]string) (params []string) {
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		at := fmt.Sprintf("Attributes.entry.%d.", i+1)
		params = append(params, at+"key", name, at+"value", attributes[name])
	}
	return params
}

// createdTopic is the answer of topic create.
type createdTopic struct {
	TopicArn string `xml:"CreateTopicResult>TopicArn"`
}

func (t createdTopic) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, t.TopicArn)
	return err
}
