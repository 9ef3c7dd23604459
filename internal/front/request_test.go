package front

import "testing"

func TestHostRegion(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"sqs.eu-west-1.amazonaws.com": "eu-west-1", "SQS.EU-West-1.example.com:8080": "eu-west-1",
		"sqs.us-gov-east-1.localhost":        "us-gov-east-1",
		"ap-southeast-2.queue.amazonaws.com": "ap-southeast-2", "queue.amazonaws.com": "", "sqs.example.com": "",
		"sqs.example.com:9324": "",
		"sqs.127.0.0.1":        "", "127.0.0.1:9324": "", "localhost": "", "eu-west-1": "", "sqs.eu-west-1": "",
		"a.queue.b": "", "": "",
	} {
		if got := hostRegion(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
