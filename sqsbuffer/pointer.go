package sqsbuffer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A pointer is the location of a message's body. It replaces the body in the message, in the form of the extended
// clients for Java and Python:
//
//	["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"...","s3Key":"..."}]
type pointer struct {
	Bucket string `json:"s3BucketName"`
	Key    string `json:"s3Key"`
}

const (
	pointerClass      = "software.amazon.payloadoffloading.PayloadS3Pointer"
	olderPointerClass = "com.amazon.sqs.javamessaging.MessageS3Pointer"

	// The attribute that marks a message whose body is a pointer, and its older name. Its value is the size of the
	// original body in bytes.
	sizeAttribute      = "ExtendedPayloadSize"
	olderSizeAttribute = "SQSLargePayloadSize"
)

// The marks around bucket and key in front of a receipt handle, by which an extended client
// knows what to delete with the message:
//
//	-..s3BucketName..-BUCKET-..s3BucketName..--..s3Key..-KEY-..s3Key..-HANDLE
const (
	bucketMark = "-..s3BucketName..-"
	keyMark    = "-..s3Key..-"
)

func (p pointer) body() (string, error) {
	body, err := json.Marshal([]any{pointerClass, p})
	return string(body), err
}

// parsePointer reads a pointer, with or without the name of its class.
func parsePointer(body string) (pointer, error) {
	var p pointer
	object := json.RawMessage(body)
	var parts []json.RawMessage
	if json.Unmarshal([]byte(body), &parts) == nil {
		var class string
		if len(parts) != 2 || json.Unmarshal(parts[0], &class) != nil ||
			class != pointerClass && class != olderPointerClass {
			return p, fmt.Errorf("want the class %s and an object", pointerClass)
		}
		object = parts[1]
	}
	if err := json.Unmarshal(object, &p); err != nil {
		return pointer{}, err
	}
	if p.Bucket == "" || p.Key == "" {
		return pointer{}, errors.New("want s3BucketName and s3Key")
	}
	return p, nil
}

// embed prepends a pointer to a receipt handle.
func (p pointer) embed(handle string) string {
	return bucketMark + p.Bucket + bucketMark + keyMark + p.Key + keyMark + handle
}

// extract removes the pointer from a receipt handle that has one.
func extract(handle string) (p pointer, plain string, ok bool) {
	rest, ok := strings.CutPrefix(handle, bucketMark)
	if !ok {
		return pointer{}, handle, false
	}
	bucket, rest, ok := strings.Cut(rest, bucketMark+keyMark)
	if !ok {
		return pointer{}, handle, false
	}
	key, plain, ok := strings.Cut(rest, keyMark)
	if !ok {
		return pointer{}, handle, false
	}
	return pointer{Bucket: bucket, Key: key}, plain, true
}
