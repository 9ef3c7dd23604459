# Uses Amazon's extended client for Python: "send" sends the body that it reads to
# the queue; "receive" receives a message, deletes it, and prints its body.
import sys

import boto3
import sqs_extended_client  # noqa: F401, adds what is used below to the client

action, queue, bucket = sys.argv[1:]
sqs = boto3.client("sqs")
sqs.large_payload_support = bucket
sqs.delete_payload_from_s3 = True
if action == "send":
    sqs.send_message(
        QueueUrl=queue,
        MessageBody=sys.stdin.read(),
        MessageAttributes={"from": {"DataType": "String", "StringValue": "Python"}},
    )
else:
    received = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=10, MessageAttributeNames=["All"])
    message = received["Messages"][0]
    sys.stdout.write(message["Body"])
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
