package protocol

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Service is a set of operations under one wire identity. It is safe for concurrent use once the last operation has
// been registered.
type Service struct {
	// Name is the service's name in a SigV4 credential scope, "sqs".
	Name string
	// Target is the prefix of X-Amz-Target, "AmazonSQS". Only its last dotted component is compared, because SDKs
	// disagree about the rest. It is also the name of the service in the path of a CBOR request. A service without
	// Target supports neither JSON nor CBOR.
	Target string
	// Versions are the API versions that Query requests may name, oldest first; the last one is assumed of requests
	// that name none. A service without Versions does not speak Query.
	Versions []string
	// Namespace is the XML namespace of answers, with %s where the version goes.
	Namespace string
	// ErrorNamespace completes the Type of an Error that has none, "com.amazonaws.sqs".
	ErrorNamespace string
	// WhenIsolated makes a node of a cluster serve the service even while it is cut off from the other nodes and its
	// state may be outdated: to root users, who need no policy.
	WhenIsolated bool
	// ErrorDetail has XML errors carry an empty Detail element, as SQS does and newer services do not.
	ErrorDetail bool
	// Framework refuses Query requests in the words of AWS's framework if they name no operation, or if a value is not
	// of its parameter's type. SQS has its own words.
	Framework bool
	// NeverForbids makes callers without permission get the status 400 instead of 403, as do those of AWS's
	// services that have never supported the Query protocol.
	NeverForbids bool
	// Throttled returns the error for a caller with too many requests at a time. The default is the function Throttled.
	Throttled func() *Error
	// TooLong returns the error for a parameter that is longer than its field allows. Without it, that is a
	// ValidationError, by the function TooLong.
	TooLong func(*Excess) *Error
	// Model is the text of the constraints in AWS's model, which Invoke checks before it runs a handler. See model.
	Model string
	// Sentences are what the model's texts say by their names, each with %s for the member.
	Sentences map[string]string

	model       *model
	operations  map[string]*Operation
	unsupported map[string]bool // operations that AWS has, and s has not
}

// NewService returns a service with the identity given and no operations. It panics if the identity is contradictory.
func NewService(identity Service) *Service {
	s := identity
	s.operations = make(map[string]*Operation)
	s.model = parseModel(s.Model, s.Sentences)
	if s.TooLong == nil {
		s.TooLong = TooLong
	}
	if s.Throttled == nil {
		s.Throttled = Throttled
	}
	for _, v := range s.Versions {
		if !isDate(v) {
			panic(fmt.Sprintf("protocol: service %s: version %q is not a date", s.Name, v))
		}
	}
	if len(s.Versions) > 0 && strings.Count(s.Namespace, "%s") > 1 {
		panic(fmt.Sprintf("protocol: service %s: namespace %q names the version twice", s.Name, s.Namespace))
	}
	return &s
}

// Operation is one operation of a service, with the plans by which its input and output are read and written.
type Operation struct {
	Name string

	rootOnly bool
	result   bool // an empty output is still an element
	control  bool
	with     string // the parameter with which the operation is as one with control; may be empty
	unsigned bool
	data     bool
	maxBody  int // in bytes; 0: any that the front end takes
	in, out  *plan
	rule     *rule // the constraints of AWS's model on the input; nil: none
	tooLong  func(*Excess) *Error
	service  *Service
	invoke   func(ctx context.Context, c *Call, in any) (any, error)
}

// Option qualifies an operation at registration.
type Option func(*Operation)

// RootOnly makes an operation unknown to Query requests whose path is not "/": it does not act on the resource that
// such a path names.
func RootOnly(op *Operation) { op.rootOnly = true }

// EmptyResult gives the Query answers of an operation without output an empty Result element. AWS's models distinguish
// operations that return nothing from operations that return an empty structure, and SDKs require the element for an
// empty structure.
func EmptyResult(op *Operation) { op.result = true }

// Control marks an operation that may change the control store. In a cluster it runs on the only node that may write
// that store. An operation without this mark must not change it.
func Control(op *Operation) { op.control = true }

// ControlWith is Control for requests that have a parameter; others change nothing.
func ControlWith(parameter string) Option {
	return func(op *Operation) { op.with = parameter }
}

// Unsigned lets an operation be called by clients that do not sign: the operation itself decides what they may do.
func Unsigned(op *Operation) { op.unsigned = true }

// TakesUnsigned reports whether the operation of that name may be called by clients that do not sign.
func (s *Service) TakesUnsigned(name string) bool {
	op := s.operations[name]
	return op != nil && op.unsigned
}

// Control reports whether each request for the operation may change the control store.
func (op *Operation) Control() bool { return op.control }

// ControlFor reports whether a request for the operation may change the control store.
func (op *Operation) ControlFor(r *Request) bool {
	return op.control || op.with != "" && r.mentions(op.with)
}

// mentions reports whether the request may have a parameter.
func (req *Request) mentions(parameter string) bool {
	if req.Kind == Query {
		_, found := req.Form.Lookup(parameter)
		return found
	}
	return bytes.Contains(req.Body, []byte(parameter))
}

// MaxBody refuses requests for an operation whose body is longer. A compressed body counts with its size before
// compression.
func MaxBody(size int) Option {
	return func(op *Operation) { op.maxBody = size }
}

// Data marks an operation on a service's data, such as messages, rather than on its configuration. It is not in the
// record of management calls.
func Data(op *Operation) { op.data = true }

// Data reports whether the operation is on the service's data.
func (op *Operation) Data() bool { return op.data }

// readers are the prefixes of the names of operations that change nothing.
var readers = []string{"Describe", "Explain", "Generate", "Get", "List", "Lookup", "Peek", "Simulate"}

// ReadOnly reports whether the operation changes nothing, judging by its name. Assuming a role changes nothing either.
func (op *Operation) ReadOnly() bool {
	return op.Name == "AssumeRole" || slices.ContainsFunc(readers, func(p string) bool { return strings.HasPrefix(op.Name, p) })
}

// Register adds an operation to s. In and Out must be pointers to structs as the package comment describes; if they are
// not, or if name is taken, Register panics.
//
// The handler owns its input. An *Error that it returns goes to the client as it is; see AsError for others. A nil
// output stands for a zero one.
//
// In and Out are the pointers, not the structs, and have no constraint: so the compiler makes one function for all of
// them, not one for each operation.
func Register[In, Out any](
	s *Service, name string, h func(ctx context.Context, c *Call, in In) (Out, error), opts ...Option,
) {
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	if in.Kind() != reflect.Pointer || out.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("protocol: service %s: operation %s takes and returns pointers to structs", s.Name, name))
	}
	s.register(&Operation{
		Name: name, in: planInput(in.Elem()), out: planOutput(out.Elem()), tooLong: s.TooLong, service: s,
		invoke: func(ctx context.Context, c *Call, in any) (any, error) {
			got, err := h(ctx, c, in.(In))
			if err != nil {
				return nil, err
			}
			var none Out
			if any(got) == any(none) {
				return reflect.New(out.Elem()).Interface(), nil
			}
			return got, nil
		},
	}, opts)
}

func (s *Service) register(op *Operation, opts []Option) {
	if s.operations[op.Name] != nil {
		panic(fmt.Sprintf("protocol: service %s: operation %s is registered twice", s.Name, op.Name))
	}
	for _, o := range opts {
		o(op)
	}
	op.rule = s.model.operations[op.Name].bind(op.in, s.Name+" "+op.Name)
	s.operations[op.Name] = op
}

// Operations returns the operations of s, sorted by name.
func (s *Service) Operations() []*Operation {
	ops := make([]*Operation, 0, len(s.operations))
	for _, op := range s.operations {
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(a, b *Operation) int { return strings.Compare(a.Name, b.Name) })
	return ops
}

// Unsupported declares operations that AWS has and s does not, so that their callers get an error with this reason. If
// s has an operation of such a name, Unsupported panics.
func (s *Service) Unsupported(names ...string) {
	if s.unsupported == nil {
		s.unsupported = make(map[string]bool, len(names))
	}
	for _, name := range names {
		if s.operations[name] != nil {
			panic(fmt.Sprintf("protocol: service %s: operation %s is there and declared unsupported", s.Name, name))
		}
		s.unsupported[name] = true
	}
}

// Names returns the names of all operations that s knows, unsupported ones included, in order.
func (s *Service) Names() []string {
	names := slices.Collect(maps.Keys(s.operations))
	names = slices.AppendSeq(names, maps.Keys(s.unsupported))
	slices.Sort(names)
	return names
}

// Knows reports whether s has an operation with that name, or declares it unsupported.
func (s *Service) Knows(name string) bool { return s.operations[name] != nil || s.unsupported[name] }

// Lacks reports whether s declares an operation of AWS unsupported.
func (s *Service) Lacks(name string) bool { return s.unsupported[name] }

// unknown is the error of an operation that s does not have.
func (s *Service) unknown(req *Request) *Error {
	switch {
	case s.unsupported[req.Operation]:
		return UnsupportedOperation(req.Operation)
	case s.Framework && !req.Kind.NamesService():
		return noOperation(req.Operation, cmp.Or(req.Version, s.accepted("")))
	}
	return UnknownOperation(req.Operation)
}

// Is reports whether target, the prefix of an X-Amz-Target header, names s.
func (s *Service) Is(target string) bool {
	return s.Target != "" && lastComponent(target) == lastComponent(s.Target)
}

// Lookup finds the operation that req asks for. It refuses operations that s does not have, and Query requests for an
// API version that s does not have. A Query request without a version gets the newest one: Lookup sets req.Version. The
// error is an *Error.
func (s *Service) Lookup(req *Request) (*Operation, error) {
	if req.Kind.NamesService() {
		op := s.operations[req.Operation]
		switch {
		case !s.Is(req.Target):
			return nil, UnknownOperation(req.Operation)
		case op == nil:
			return nil, s.unknown(req)
		}
		return op, nil
	}
	op := s.operations[req.Operation]
	if op == nil {
		return nil, s.unknown(req)
	}
	if !s.speaksQuery() || op.rootOnly && req.Path != "/" && req.Path != "" {
		return nil, UnknownOperation(req.Operation)
	}
	switch {
	case req.Version == "":
		req.Version = s.accepted("")
	case !isDate(req.Version):
		return nil, MalformedVersion(req.Version)
	case slices.Contains(s.Versions, req.Version):
	case s.Framework:
		return nil, noOperation(req.Operation, req.Version)
	default:
		return nil, NoSuchVersion(req.Version)
	}
	return op, nil
}

// Decode reads the input of the operation from req and returns a pointer to its input struct. It checks syntax, types
// and limits; Invoke checks the service's model, and the handler checks everything else. The error is an *Error.
func (op *Operation) Decode(req *Request) (any, error) {
	if op.maxBody > 0 && len(req.Body) > op.maxBody {
		return nil, BodyTooLong(len(req.Body), op.maxBody)
	}
	in := reflect.New(op.in.typ)
	var err error
	switch req.Kind {
	case JSON:
		err = decodeJSON(req.Body, op.in, in.Elem())
	case CBOR:
		err = decodeCBOR(req.Body, op.in, in.Elem())
	default:
		err = decodeForm(req.Form, op.in, in.Elem())
	}
	if err == nil {
		return in.Interface(), nil
	}
	if excess, ok := errors.AsType[*excessError](err); ok {
		return nil, op.excess(&excess.Excess)
	}
	if malformed, ok := errors.AsType[*malformedError](err); ok {
		return nil, malformed.refusal(op.service.Framework)
	}
	return nil, err
}

// excess returns the error for a value that is longer than its field allows: in the words of the model, if the model
// has the field.
func (op *Operation) excess(e *Excess) error {
	if op.rule != nil {
		if err := op.rule.excess(e); err != nil {
			return err
		}
	}
	return op.tooLong(e)
}

// Invoke checks an input, which Decode returned, against the service's model, and runs the handler with it. The output
// is a pointer to the operation's output struct.
func (op *Operation) Invoke(ctx context.Context, c *Call, in any) (any, error) {
	if op.rule != nil {
		if err := op.rule.check(reflect.ValueOf(in).Elem()); err != nil {
			return nil, err
		}
	}
	return op.invoke(ctx, c, in)
}

// speaksQuery reports whether s has a Query protocol.
func (s *Service) speaksQuery() bool { return len(s.Versions) > 0 }

// accepted returns version if s has it, and otherwise the newest one, if s has any.
func (s *Service) accepted(version string) string {
	if !s.speaksQuery() {
		return ""
	}
	if slices.Contains(s.Versions, version) {
		return version
	}
	return s.Versions[len(s.Versions)-1]
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func lastComponent(target string) string {
	return target[strings.LastIndexByte(target, '.')+1:]
}
