package sqsbuffer

import (
	"io"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// A connectionKeeper makes requests whose connection survives until the answer is read.
//
// The SDK closes the body of a request when the answer begins. On a busy machine the transport may only then look for
// the end of the body that it has written. The WriteTo of the SDK's body answers it with io.EOF, which is no end to
// io.Copy but an error, so that the transport closes the connection in the middle of the answer. The SDK tries again:
// messages of a receive stay hidden for their visibility timeout, those of a send are stored twice. Without a WriteTo
// the transport uses Read, whose io.EOF is the end.
type connectionKeeper struct{ sqs.HTTPClient }

func (k connectionKeeper) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return k.HTTPClient.Do(r)
}

// keepConnection is an option of calls.
func keepConnection(o *sqs.Options) { o.HTTPClient = connectionKeeper{o.HTTPClient} }

// keeping adds keepConnection to the options of a caller.
func keeping(options []func(*sqs.Options)) []func(*sqs.Options) {
	return append(slices.Clip(options), keepConnection)
}
