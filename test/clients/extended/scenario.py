"""Large messages by Amazon's extended client for Python, with their bodies in S3.

The client puts a receipt handle of its own around the server's, and finds that by cutting at hyphens. So each message
is extended and deleted: there are enough of them that one of the handles would have a hyphen.
"""

import os

import boto3
import sqs_extended_client  # noqa: F401, adds what is used below to the client

BUCKET = "bodies"
COUNT = 30

s3 = boto3.client(
    "s3",
    endpoint_url=os.environ["S3_ENDPOINT_URL"],
    aws_access_key_id=os.environ["S3_ACCESS_KEY_ID"],
    aws_secret_access_key=os.environ["S3_SECRET_ACCESS_KEY"],
)
sqs = boto3.client("sqs")
sqs.s3_client = s3
sqs.large_payload_support = BUCKET
sqs.delete_payload_from_s3 = True
url = sqs.create_queue(QueueName="extended")["QueueUrl"]


def body(n):
    return f"{n} " + "x" * 300_000


for n in range(COUNT):
    sqs.send_message(QueueUrl=url, MessageBody=body(n))

left = {body(n) for n in range(COUNT)}
while left:
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=10, MessageAttributeNames=["All"])
    for message in received["Messages"]:
        left.remove(message["Body"])
        handle = message["ReceiptHandle"]
        sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=600)
        sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)

names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
assert set(counts.values()) == {"0"}, counts
objects = s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
assert not objects, [o["Key"] for o in objects]
