package front

import (
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// A log line repeats at most this many bytes of a client's text.
const (
	maxLoggedError = 300
	maxLoggedAgent = 200
	maxLoggedKey   = 128
)

// log writes the line of --log-requests.
func (x *request) log() {
	attrs := []slog.Attr{
		slog.String("request_id", x.id),
		slog.String("remote", x.r.RemoteAddr),
		slog.Duration("duration", time.Since(x.began)),
	}
	if x.sourceIP != "" && x.sourceIP != peerIP(x.r) {
		attrs = append(attrs, slog.String("client", x.sourceIP))
	}
	if x.page != "" {
		attrs = append(attrs, slog.String("console", x.r.Method+" "+protocol.Shorten(x.page, maxLoggedAgent)))
	}
	if x.parsed != nil {
		attrs = append(
			attrs,
			slog.String(
				"service",
				x.who.service.Name,
			),
			slog.String("operation", x.operation()),
			slog.String("protocol", x.parsed.Kind.String()),
		)
	}
	attrs = append(attrs, x.who.attrs(x.intake.keyID)...)
	if x.call != nil {
		if x.call.Region != "" {
			attrs = append(attrs, slog.String("region", x.call.Region))
		}
		attrs = append(attrs, x.call.Notes.Attrs()...)
	}
	attrs = append(attrs, x.result.attrs(x.page == "")...)
	if agent := x.userAgent(); agent != "" {
		attrs = append(attrs, slog.String("user_agent", protocol.Shorten(agent, maxLoggedAgent)))
	}
	x.front.Log.LogAttrs(x.r.Context(), slog.LevelInfo, "request", attrs...)
}

// userAgent returns the name of the client's program. The call has it when the headers are gone.
func (x *request) userAgent() string {
	if x.call != nil {
		return x.call.UserAgent
	}
	return x.r.UserAgent()
}

// longWord matches receipt handles, tokens and signatures.
var longWord = regexp.MustCompile(`[A-Za-z0-9_+/=-]{41,}`)

// loggable returns the text of an error for the log. Errors quote the client's input, which may be something that must
// not be in a log. SQS quotes the value of a refused parameter, which may be a message body: loggable omits it. Receipt
// handles, tokens and signatures are long words: loggable keeps their beginning.
func loggable(message string) string {
	const before, after = "Value ", " for parameter "
	if i, j := strings.Index(message, before), strings.LastIndex(message, after); i >= 0 && j > i {
		message = message[:i] + before + "..." + message[j:]
	}
	return longWord.ReplaceAllStringFunc(protocol.Shorten(message, maxLoggedError), func(word string) string {
		return word[:8] + "..."
	})
}

// count records the outcome of the request in the metrics. A request that another node relayed is counted there. The
// console's sign-in requests are no operations.
func (x *request) count() {
	if x.relayed || x.page != "" {
		x.front.Metrics.Drop()
		return
	}
	operation := ""
	if x.parsed != nil {
		operation = x.parsed.Operation
	}
	x.front.Metrics.Done(x.who.service.Name, operation, x.result.label(), time.Since(x.began))
}
