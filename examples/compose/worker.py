"""Works on the messages of a queue until it gets a signal to stop."""

import os
import signal
import sys

import boto3


def work(body):
    print(body, flush=True)


# A message in progress is finished: the signal is handled only while the program waits for one.
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

sqs = boto3.client("sqs")
url = sqs.get_queue_url(QueueName=os.environ["QUEUE"])["QueueUrl"]
while True:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1, WaitTimeSeconds=20)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    for message in received.get("Messages", []):
        work(message["Body"])  # after an exception, the message returns; after five, it goes to the dead-letter queue
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
