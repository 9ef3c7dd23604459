// Package protocol speaks the AWS wire protocols on behalf of services it knows nothing about.
//
// An operation is declared once, as a name, an input struct, an output struct and a handler. From these the package
// derives how the operation reads and writes AWS JSON 1.0 and 1.1, Smithy's RPC v2 with CBOR bodies, the Query protocol
// with its XML answers, and the JSON answers that a Query client gets when it asks for application/json:
//
//	type SendMessageInput struct {
//		QueueUrl          string  `max:"2048"`
//		MessageBody       *string `max:"1M"`
//		DelaySeconds      *int32
//		MessageAttributes map[string]AttributeValue `query:"MessageAttribute" entry:"Name,Value" max:"10,256"`
//	}
//
//	type SendMessageOutput struct {
//		MessageId        string
//		MD5OfMessageBody string
//		SequenceNumber   string `json:",omitempty"`
//	}
//
//	sqs := protocol.NewService(protocol.Service{Name: "sqs", Target: "AmazonSQS", ...})
//	protocol.Register(sqs, "SendMessage", h.sendMessage)
//	protocol.Register(sqs, "CreateQueue", h.createQueue, protocol.RootOnly)
//
// A request then passes through
//
//	Recognise -> Service.Lookup -> Operation.Decode -> Operation.Invoke -> WriteResult or WriteError
//
// with authentication and other steps of the HTTP layer in between.
//
// # Types
//
// Fields may be string, bool, int, int32, int64, float64 and types derived from them; pointers to these; []byte, which
// travels as standard base64, in CBOR as it is; time.Time, which is ISO 8601 in Query and XML and seconds since 1970 in
// JSON and CBOR; lists []T and maps map[string]T of scalars, blobs and structs; structs and pointers to structs. The
// fields of an embedded struct count as those of the struct that embeds it. Recursive types, lists of lists and other
// embedded fields are refused. Unexported fields are refused too: every field of a wire struct is on the wire. All of
// this is checked by Register, which panics, so that a mistake shows at start-up.
//
// A member that is absent from a request leaves its field untouched: nil for pointers, lists and maps. A list or map
// that is present but empty is empty and not nil. JSON null means absent.
//
// # Tags
//
//	json:"Name"            the member's name in JSON and CBOR; the Go name if left out, "-" if the field is not in JSON
//	json:",omitempty"      leave a zero string, number, bool or an empty blob out of the answer, in every protocol
//	json:",always"         write an empty list or map rather than leaving it out
//	query:"Name,Alias"     the parameter's name in Query, which is also the XML element, and other spellings accepted
//	                       in requests; the JSON name if left out, "-" if the field is not in Query
//	entry:"Key,Value"      the names that a map's keys and values have in Query and XML; "Name,Value" if left out
//	wrap:"member"          a list or map inside an element of its own, each entry called as given; if left out, lists
//	                       and maps are flattened
//	wrapper:"messages"     the member's name in the JSON answer to a Query request; the JSON name if left out
//
//	precise:""             a time that is in XML to the millisecond, as it is in JSON and CBOR; times are there to the
//	                       second otherwise
//
//	max:"128"              the most characters of a string or bytes of a blob
//	max:"10"               the most entries of a list or map of structs, numbers or bools; of a map with the most
//	                       characters of a key, max:"10,256"
//	max:"50,128"           the most entries of a list of strings or blobs, and the most characters or bytes of each
//	max:"50,128,256"       the most entries of a map of strings or blobs, and the most characters of a key and of a value
//
// # Limits
//
// Every input field of unlimited length needs the tag max. The codec checks it while it decodes, so handlers and
// policies never see a longer value; the request is refused with Service.TooLong. K and M stand for 1024 and 1048576.
// If a service has its own error for a value that is too long, the tag allows somewhat more, and the handler checks the
// exact limit.
//
// # Models
//
// Service.Model has further constraints on inputs from AWS's model of the service: required members, lengths, patterns,
// values. Invoke checks them before the handler runs, and the error names all violations, as AWS's framework does.
// Members and types are in the order of the model. The codec refuses a value that is longer than its field allows, and
// its error names only that value.
//
// # Names
//
// A list is flattened (Base.1, Base.2, and repeated <Base> elements), or, with wrap:"member", Base.member.1 and
// <Base><member>. A map is Base.1.Name with Base.1.Value, or, with wrap:"entry" entry:"key,value",
// Base.entry.1.key with Base.entry.1.value.
//
// In an answer, nil pointers and empty lists, maps and blobs are omitted; other strings, numbers and bools are always
// written unless tagged omitempty. XML elements are in the order of the struct's fields, entries of maps are sorted by
// key.
//
// # Why not encoding/json
//
// It took more of a request's time than anything but net/http itself. The codecs here are driven by the same cached
// plans for all protocols, copy what they decode, and are fuzzed against encoding/json. CBOR is read the same way, so
// that the limits of fields are checked while it is decoded; its fuzz test compares it with a CBOR library.
package protocol
