#!/usr/bin/env bash
# The SQS commands of a person or a script with the AWS CLI, version 2, against a running server. Debian's version of January
# 2023 uses Query and does not support AWS_ENDPOINT_URL. $AWS is the program.
set -euo pipefail

name=cli-$$-$RANDOM
sqs() { "$AWS" --endpoint-url "$AWS_ENDPOINT_URL" --output text sqs "$@"; }

equal() {
	[ "$1" = "$2" ] || {
		printf 'FAILED  %s: want %s, got %s\n' "$step" "$1" "$2"
		exit 1
	}
}

create() { sqs create-queue --queue-name "$1" --attributes "$2" --query QueueUrl; }
receive() {
	sqs receive-message --queue-url "$1" --wait-time-seconds "$2" --max-number-of-messages 10 \
		--attribute-names All --message-attribute-names All --query "$3"
}

body=$'naïve ☃ <&"\'>\nsecond line'

step="send, extend, dead letters"
dead=$(create "$name-dead" VisibilityTimeout=30)
arn=$(sqs get-queue-attributes --queue-url "$dead" --attribute-names QueueArn --query Attributes.QueueArn)
url=$(create "$name" '{"VisibilityTimeout":"600","RedrivePolicy":"{\"deadLetterTargetArn\":\"'"$arn"'\",\"maxReceiveCount\":1}"}')
id=$(sqs send-message --queue-url "$url" --message-body "$body" --query MessageId \
	--message-attributes '{"colour":{"DataType":"String","StringValue":"blå"}}')
read -r got colour handle < <(receive "$url" 10 'Messages[0].[MessageId,MessageAttributes.colour.StringValue,ReceiptHandle]')
equal "$id blå" "$got $colour"
sqs change-message-visibility --queue-url "$url" --receipt-handle "$handle" --visibility-timeout 900
equal None "$(receive "$url" 0 Messages)"
sqs change-message-visibility --queue-url "$url" --receipt-handle "$handle" --visibility-timeout 0
equal None "$(receive "$url" 0 Messages)"
equal "$body" "$(receive "$dead" 10 'Messages[0].Body')"
echo "ok      $step"

step="FIFO"
fifo=$(create "$name.fifo" FifoQueue=true,ContentBasedDeduplication=true)
for i in 0 1 1 2; do # one is a duplicate
	sqs send-message --queue-url "$fifo" --message-body "$i" --message-group-id g >/dev/null
done
equal $'0\t1\t2' "$(receive "$fifo" 10 'Messages[].Body')"
echo "ok      $step"

step="delete"
sqs purge-queue --queue-url "$fifo"
equal 0 "$(sqs get-queue-attributes --queue-url "$fifo" --attribute-names All --query Attributes.ApproximateNumberOfMessages)"
if refusal=$(sqs delete-message --queue-url "$url" --receipt-handle x 2>&1); then
	equal ReceiptHandleIsInvalid "an answer"
fi
case $refusal in *ReceiptHandleIsInvalid*) ;; *) equal ReceiptHandleIsInvalid "$refusal" ;; esac
for queue in "$url" "$dead" "$fifo"; do
	sqs delete-queue --queue-url "$queue"
done
echo "ok      $step"
