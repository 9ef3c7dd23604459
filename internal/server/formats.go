package server

import (
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
)

// refusals describe the features that must wait until all nodes of the cluster can read a format.
var refusals = map[int]string{
	formats.Topics:     "Topics can be created when all nodes of the cluster support topics",
	formats.Monitor:    "Alarms can be created when all nodes of the cluster support alarms",
	formats.Trails:     "Trails can be created when all nodes of the cluster support trails",
	formats.SignIn:     "Users can sign in when all nodes of the cluster support sessions",
	formats.Selections: "Messages can be selected to be moved when all nodes of the cluster know how",
	formats.Tenants:    "Limits can be set when all nodes of the cluster support them",
	formats.Encrypted:  "Messages can be encrypted when all nodes of the cluster know how",
	formats.Composites: "Composite alarms can be created when all nodes of the cluster support composite alarms",

	formats.Detectors: "Anomaly detectors, insight rules and alarms on bands can be created " +
		"when all nodes of the cluster support anomaly detectors, insight rules and alarms on bands",

	formats.Mutes: "Alarm mute rules can be created when all nodes of the cluster support alarm mute rules",

	formats.PausedGroups: "Message groups can be paused when all nodes of the cluster know how",
	formats.Insights:     "Trails can have insights when all nodes of the cluster support them",
	formats.Preferences:  "SMS attributes and subscriptions of phones can be set when all nodes of the cluster support them",
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
