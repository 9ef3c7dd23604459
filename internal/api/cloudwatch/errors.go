package cloudwatch

import (
	"errors"
	"net/http"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insightrule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

func errValue(format string, args ...any) *protocol.Error {
	return service.Modelled(
		"InvalidParameterValueException", "InvalidParameterValue", http.StatusBadRequest, format, args...,
	)
}

func errCombination(format string, args ...any) *protocol.Error {
	return service.Modelled(
		"InvalidParameterCombinationException", "InvalidParameterCombination", http.StatusBadRequest, format, args...,
	)
}

func errMissing(name string) *protocol.Error {
	return errMissingText("The parameter " + name + " is required.")
}

func errMissingText(text string) *protocol.Error {
	return service.Modelled("MissingRequiredParameterException", "MissingParameter", http.StatusBadRequest, "%s", text)
}

// errNoAlarm is the error of SetAlarmState. As on AWS it has no message, like errFormat.
func errNoAlarm() *protocol.Error {
	return &protocol.Error{
		Type: "com.amazonaws.cloudwatch.v2010_08_01#ResourceNotFound", Code: "ResourceNotFound",
		Status: http.StatusNotFound, PlainStatus: http.StatusBadRequest,
	}
}

// codeNoResource is the code of errNoResource.
const codeNoResource = "ResourceNotFoundException"

// errNoResource is the error of the operations on tags.
func errNoResource(arn string) *protocol.Error {
	return service.Modelled("ResourceNotFoundException", codeNoResource, http.StatusNotFound,
		"Unknown resource: %s", service.Shorten(arn))
}

func errNoDashboard(name string) *protocol.Error {
	return service.Modelled(
		"DashboardNotFoundError", "ResourceNotFound", http.StatusNotFound, "Dashboard %s does not exist", name,
	)
}

func errDashboard(format string, args ...any) *protocol.Error {
	return service.Modelled(
		"DashboardInvalidInputError", "InvalidParameterInput", http.StatusBadRequest, format, args...,
	)
}

// errFormat is the error of SetAlarmState for StateReasonData that are not JSON.
func errFormat() *protocol.Error {
	return &protocol.Error{
		Type: "com.amazonaws.cloudwatch.v2010_08_01#InvalidFormatFault", Code: "InvalidFormat",
		Status: http.StatusBadRequest,
		Detail: "The parameter StateReasonData must be valid JSON.",
	}
}

func errLimit(format string, args ...any) *protocol.Error {
	return service.Modelled("LimitExceededFault", "LimitExceeded", http.StatusBadRequest, format, args...)
}

// errTooLong refuses a parameter that is longer than its declaration allows, if the model has no rule for it. The
// operations on metrics have their own texts for that.
func errTooLong(e *protocol.Excess) *protocol.Error {
	parts := strings.Split(e.Member, ".")
	switch parts[0] {
	case "MetricDataQueries":
		return protocol.ValidationError("%s\n", errTooLongMetric(e, parts).Message)
	case "Namespace", "MetricName", "Dimensions", "Statistics", "ExtendedStatistics", "Unit", "MetricData",
		"EntityMetricData",
		"Stat", "Configuration", "SingleMetricAnomalyDetector", "MetricMathAnomalyDetector", "AnomalyDetectorIds",
		"AnomalyDetectorTypes", "RuleName", "RuleState", "RuleDefinition", "RuleNames":
		return errTooLongMetric(e, parts)
	}
	return protocol.TooLong(e)
}

func errTooLongMetric(e *protocol.Excess, parts []string) *protocol.Error {
	for i, part := range parts {
		if part != "" && part[0] >= '0' && part[0] <= '9' {
			parts[i] = "member." + part
		}
	}
	name := strings.Join(parts, ".")
	if e.Unit == protocol.Entries {
		return errValue("The collection %s must not have a size greater than %d.", name, e.Max)
	}
	return errValue("The parameter %s must be shorter than %d characters.", name, e.Max+1)
}

func errToken() *protocol.Error {
	return service.Modelled(
		"InvalidNextToken", "InvalidNextToken", http.StatusBadRequest, "The next token is not one of this list.",
	)
}

// paged translates the error of a page's token.
func paged[T any](p service.Page[T], err error) (service.Page[T], error) {
	return p, tokenFailure(err, errToken)
}

// pagedValue is paged for the operations whose model has no error for tokens.
func pagedValue[T any](p service.Page[T], err error) (service.Page[T], error) {
	return p, tokenFailure(err, func() *protocol.Error { return errValue("Request parameter NextToken is invalid") })
}

func tokenFailure(err error, refusal func() *protocol.Error) error {
	if errors.Is(err, service.ErrToken) || errors.Is(err, service.ErrOtherList) {
		return refusal()
	}
	return err
}

// errNoMuteRule is the error of GetAlarmMuteRule.
func errNoMuteRule(name string) *protocol.Error {
	return service.Modelled("ResourceNotFoundException", codeNoResource, http.StatusNotFound,
		"The alarm mute rule %s does not exist.", name)
}

// errNoDetector is the error of DeleteAnomalyDetector.
func errNoDetector() *protocol.Error {
	return service.Modelled(
		"ResourceNotFoundException", codeNoResource, http.StatusNotFound, "The anomaly detector does not exist.",
	)
}

// failure translates the errors of queries, the budget and storage.
func failure(err error) error {
	if e, ok := errors.AsType[*budget.Excess](err); ok {
		return protocol.ValidationError("%s; ask for a shorter time range, a longer period or fewer metrics.", sentence(e.Error()))
	}
	if errors.Is(err, budget.ErrBusy) {
		return protocol.Throttled()
	}
	if q, ok := errors.AsType[*metricdata.Error](err); ok {
		return badQuery(q)
	}
	if errors.Is(err, monitor.ErrTooManyMetrics) {
		return errLimit("An account can have at most %d custom metrics that were sent in the last 15 days.", monitor.MaxMetrics)
	}
	if e, ok := errors.AsType[series.QuotaError](err); ok {
		return errQuota(e)
	}
	if e, ok := errors.AsType[series.SpaceError](err); ok {
		return errSpace(e)
	}
	return service.Failure(err)
}

// errQuota refuses one more than a quota allows. The models have two errors for this.
func errQuota(e series.QuotaError) *protocol.Error {
	switch e.Quota {
	case detector.Quota, insightrule.Quota:
		return errExceeded(e)
	}
	return errLimit("%s.", sentence(e.Error()))
}

// errSpace refuses a record for which there is no room.
func errSpace(e series.SpaceError) *protocol.Error {
	switch e.Space {
	case monitor.DashboardSpace:
		return errValue("%s.", sentence(e.Error()))
	case detector.Space:
		return errExceeded(e)
	}
	return errLimit("%s.", sentence(e.Error()))
}

// errExceeded is errLimit for anomaly detectors and rules of Contributor Insights.
func errExceeded(err error) *protocol.Error {
	return service.Modelled(
		"LimitExceededException", "LimitExceededException", http.StatusBadRequest, "%s.", sentence(err.Error()),
	)
}

// badQuery refuses a query in AWS's words, if they are known. The request log has the details.
func badQuery(q *metricdata.Error) *protocol.Error {
	if q.AWS == "" {
		return protocol.ValidationError("%s.", sentence(q.Error()))
	}
	e := protocol.ValidationError("%s", q.AWS)
	e.Detail = q.Error()
	return e
}

// sentence capitalizes a text.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
