package sqsbuffer

import "testing"

func FuzzPointer(f *testing.F) {
	f.Add(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`)
	f.Add(`["com.amazon.sqs.javamessaging.MessageS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`)
	f.Add(`{"s3BucketName":"b","s3Key":"k"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, body string) {
		p, err := parsePointer(body)
		if err != nil {
			return
		}
		again, err := p.body()
		if err != nil {
			t.Fatal(err)
		}
		if q, err := parsePointer(again); err != nil || q != p {
			t.Errorf("%q becomes %v, and then %v: %v", body, p, q, err)
		}
	})
}

func FuzzReceiptHandle(f *testing.F) {
	f.Add("-..s3BucketName..-b-..s3BucketName..--..s3Key..-k-..s3Key..-handle")
	f.Add("-..s3BucketName..-b")
	f.Add("handle")
	f.Fuzz(func(t *testing.T, handle string) {
		p, plain, ok := extract(handle)
		if ok && p.embed(plain) != handle || !ok && plain != handle {
			t.Errorf("%q becomes %v and %q", handle, p, plain)
		}
	})
}
