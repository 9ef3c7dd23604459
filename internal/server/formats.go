package server

import (
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
)

// refusals describe the features that must wait until all nodes of the cluster can read a format.
var refusals = map[int]string{
	formats.Topics:     "There can be topics when all nodes of the cluster know what topics are",
	formats.Monitor:    "There can be alarms when all nodes of the cluster know what alarms are",
	formats.Trails:     "There can be trails when all nodes of the cluster know what trails are",
	formats.SignIn:     "People can sign in when all nodes of the cluster know what sessions are",
	formats.Selections: "Messages can be selected to be moved when all nodes of the cluster know how",
	formats.Tenants:    "There can be limits when all nodes of the cluster know what they are",
	formats.Encrypted:  "Messages can be encrypted when all nodes of the cluster know how",
	formats.Composites: "There can be composite alarms when all nodes of the cluster know what composite alarms are",

	formats.Detectors: "There can be anomaly detectors, insight rules and alarms on bands " +
		"when all nodes of the cluster know what anomaly detectors, insight rules and alarms on bands are",

	formats.Mutes: "There can be alarm mute rules when all nodes of the cluster know what alarm mute rules are",

	formats.PausedGroups: "Message groups can be paused when all nodes of the cluster know how",
	formats.Insights:     "Trails can have insights when all nodes of the cluster know what they are",
	formats.Preferences:  "There can be SMS attributes and subscriptions of phones when all nodes of the cluster know what they are",
}

// formats returns the rule by which records of the control store wait until all programs can read them.
func (st *storage) formats() control.Formats {
	return control.Formats{Ready: st.ready, Require: st.require}
}

// ready returns an error for clients while some node does not read a format.
func (st *storage) ready(format int) error {
	err := st.node.Reads(format)
	if refusal, ok := refusals[format]; ok && err != nil {
		return service.TooEarly(refusal, err)
	}
	return err
}
