package service

import "testing"

func TestIsManaged(t *testing.T) {
	for name, want := range map[string]bool{
		"alias/aws/sqs": true, "arn:aws:kms:us-east-1:111122223333:alias/aws/sns": true,
		"arn:aws-cn:kms:cn-north-1:111122223333:alias/aws/sqs": true,
		"alias/mine": false, "my/alias/aws/sqs": false, "arn:aws:kms:us-east-1:111122223333:key/alias/aws/sqs": false,
		"arn:aws:sqs:us-east-1:111122223333:alias/aws/sqs": false, "": false,
		"3f2504e0-4f89-81d3-9a0c-0305e82c3301": false,
	} {
		if isManaged(name) != want {
			t.Errorf("%q: managed is %v", name, !want)
		}
	}
}
