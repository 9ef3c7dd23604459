package cloudwatch

import (
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// metrics has the operations on the values of metrics: those that are counted here, and those that programs send.
type metrics struct {
	*core
	series series.Reader // of the metrics that are counted here
	levels series.Levels // how long those are kept
}

func (s metrics) register(wire *protocol.Service) {
	protocol.Register(wire, "GetMetricData", within(s.core, s.getMetricData), protocol.Data, protocol.MaxBody(maxQueries))
	protocol.Register(wire, "GetMetricStatistics", within(s.core, s.getMetricStatistics), protocol.Data)
	protocol.Register(wire, "ListMetrics", within(s.core, s.listMetrics), protocol.Data)
	protocol.Register(wire, "PutMetricData", s.putMetricData, protocol.Control, protocol.Data, protocol.MaxBody(maxPut))
}
