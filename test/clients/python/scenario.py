"""Everything an application does with SQS, done with boto3 against a running server.

The server is found the way any AWS program finds it: AWS_ENDPOINT_URL,
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_DEFAULT_REGION.

boto3 verifies the MD5 of every body and attribute set by itself, so a wrong
digest shows up here as an error of the client.
"""

import json
import os
import time
import unittest
import urllib.parse
import urllib.request
import uuid

import boto3
import botocore

ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n"

ATTRIBUTES = {
    "colour": {"DataType": "String", "StringValue": "blå <&> \r\n"},
    "count": {"DataType": "Number", "StringValue": "-12.50"},
    "price": {"DataType": "Number.float", "StringValue": "1e3"},
    "blob": {"DataType": "Binary", "BinaryValue": bytes(range(256))},
    "picture": {"DataType": "Binary.png", "BinaryValue": b"\x89PNG"},
}


def new_client():
    # Before 1.28, boto3 did not read AWS_ENDPOINT_URL; newer ones need no argument.
    return boto3.client("sqs", endpoint_url=ENDPOINT)


class Scenario(unittest.TestCase):
    """Gives every test a client, and queues that vanish with the test."""

    def setUp(self):
        self.sqs = new_client()
        self.errors = self.sqs.exceptions

    def create(self, attributes=None, suffix="", **more):
        name = f"python-{uuid.uuid4().hex}{suffix}"
        url = self.sqs.create_queue(QueueName=name, Attributes=attributes or {}, **more)["QueueUrl"]
        self.addCleanup(self.delete_quietly, url)
        return url

    def create_fifo(self, **attributes):
        return self.create({"FifoQueue": "true", **attributes}, suffix=".fifo")

    def delete_quietly(self, url):
        try:
            self.sqs.delete_queue(QueueUrl=url)
        except self.errors.QueueDoesNotExist:
            pass

    def attributes(self, url, *names):
        answer = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(names) or ["All"])
        return answer.get("Attributes", {})

    def arn(self, url):
        return self.attributes(url, "QueueArn")["QueueArn"]

    def receive(self, url, **options):
        options = {"MaxNumberOfMessages": 10, "WaitTimeSeconds": 2, **options}
        return self.sqs.receive_message(
            QueueUrl=url, AttributeNames=["All"], MessageAttributeNames=["All"], **options
        ).get("Messages", [])

    def drain(self, url, count):
        """Receives until count messages came: one receive may bring fewer."""
        messages = []
        while len(messages) < count:
            some = self.receive(url)
            self.assertTrue(some, f"only {len(messages)} of {count} messages arrived")
            messages += some
        return messages


class Queues(Scenario):
    def test_url_of_a_queue(self):
        url = self.create()
        name = url.rsplit("/", 1)[1]
        self.assertEqual(self.sqs.get_queue_url(QueueName=name)["QueueUrl"], url)
        account = self.arn(url).split(":")[4]
        found = self.sqs.get_queue_url(QueueName=name, QueueOwnerAWSAccountId=account)
        self.assertEqual(found["QueueUrl"], url)

    def test_list_in_pages(self):
        prefix = f"paged-{uuid.uuid4().hex}-"
        urls = set()
        for i in range(5):
            url = self.sqs.create_queue(QueueName=f"{prefix}{i}")["QueueUrl"]
            self.addCleanup(self.delete_quietly, url)
            urls.add(url)
        pages = self.sqs.get_paginator("list_queues").paginate(
            QueueNamePrefix=prefix, PaginationConfig={"PageSize": 2}
        )
        pages = [page["QueueUrls"] for page in pages]
        self.assertEqual([len(page) for page in pages], [2, 2, 1])
        self.assertEqual({url for page in pages for url in page}, urls)
        self.assertNotIn("QueueUrls", self.sqs.list_queues(QueueNamePrefix=prefix + "none"))

    def test_create_again(self):
        url = self.create({"DelaySeconds": "3"})
        name = url.rsplit("/", 1)[1]
        self.assertEqual(self.sqs.create_queue(QueueName=name)["QueueUrl"], url)
        same = self.sqs.create_queue(QueueName=name, Attributes={"DelaySeconds": "3"})
        self.assertEqual(same["QueueUrl"], url)
        with self.assertRaises(self.errors.QueueNameExists):
            self.sqs.create_queue(QueueName=name, Attributes={"DelaySeconds": "4"})

    def test_deleted_queue(self):
        url = self.create()
        name = url.rsplit("/", 1)[1]
        self.sqs.delete_queue(QueueUrl=url)
        with self.assertRaises(self.errors.QueueDoesNotExist):
            self.sqs.get_queue_url(QueueName=name)
        with self.assertRaises(self.errors.QueueDoesNotExist):
            self.sqs.send_message(QueueUrl=url, MessageBody="late")
        with self.assertRaises(self.errors.QueueDeletedRecently):
            self.sqs.create_queue(QueueName=name)

    def test_tags(self):
        url = self.create(tags={"team": "måke", "empty": ""})
        self.sqs.tag_queue(QueueUrl=url, Tags={"team": "new", "stage": "test"})
        self.assertEqual(
            self.sqs.list_queue_tags(QueueUrl=url)["Tags"],
            {"team": "new", "empty": "", "stage": "test"},
        )
        self.sqs.untag_queue(QueueUrl=url, TagKeys=["team", "empty", "stage", "unknown"])
        self.assertNotIn("Tags", self.sqs.list_queue_tags(QueueUrl=url))

    def test_permissions(self):
        url = self.create()
        account = self.arn(url).split(":")[4]
        self.sqs.add_permission(
            QueueUrl=url, Label="share", AWSAccountIds=[account], Actions=["SendMessage"]
        )
        policy = json.loads(self.attributes(url, "Policy")["Policy"])
        self.assertEqual(policy["Statement"][0]["Sid"], "share")
        self.sqs.remove_permission(QueueUrl=url, Label="share")
        self.assertNotIn("Policy", self.attributes(url))

    def test_purge(self):
        url = self.create()
        self.sqs.send_message(QueueUrl=url, MessageBody="forgotten")
        self.sqs.purge_queue(QueueUrl=url)
        self.assertEqual(self.receive(url, WaitTimeSeconds=0), [])
        with self.assertRaises(self.errors.PurgeQueueInProgress):
            self.sqs.purge_queue(QueueUrl=url)


class Convergence(Scenario):
    """What Terraform and its kind rely on: an attribute reads back as it was written."""

    def settings(self):
        dead = self.create()
        policy = {
            "Version": "2012-10-17",
            "Id": "spacing and order are kept",
            "Statement": [
                {
                    "Sid": "one",
                    "Effect": "Allow",
                    "Principal": {"AWS": "*"},
                    "Action": "sqs:SendMessage",
                    "Resource": self.arn(dead),
                }
            ],
        }
        return {
            "DelaySeconds": "7",
            "MaximumMessageSize": "2048",
            "MessageRetentionPeriod": "86400",
            "ReceiveMessageWaitTimeSeconds": "5",
            "VisibilityTimeout": "45",
            "SqsManagedSseEnabled": "true",
            "Policy": json.dumps(policy, indent=2),
            "RedrivePolicy": json.dumps(
                {"deadLetterTargetArn": self.arn(dead), "maxReceiveCount": 4},
                separators=(",", ":"),
            ),
            "RedriveAllowPolicy": json.dumps(
                {"redrivePermission": "byQueue", "sourceQueueArns": [self.arn(dead)]},
                separators=(",", ":"),
            ),
        }

    def assert_reads_back(self, url, wanted):
        self.assertEqual(self.attributes(url), {**self.attributes(url), **wanted})
        for name, value in wanted.items():
            self.assertEqual(self.attributes(url, name), {name: value})

    def test_created_with_attributes(self):
        settings = self.settings()
        url = self.create(settings)
        self.assert_reads_back(url, settings)
        name = url.rsplit("/", 1)[1]
        again = self.sqs.create_queue(QueueName=name, Attributes=settings)
        self.assertEqual(again["QueueUrl"], url)

    def test_set_all_at_once(self):
        url, settings = self.create(), self.settings()
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes=settings)
        self.assert_reads_back(url, settings)

    def test_set_one_by_one(self):
        url, settings = self.create(), self.settings()
        for name, value in settings.items():
            self.sqs.set_queue_attributes(QueueUrl=url, Attributes={name: value})
        self.assert_reads_back(url, settings)

    def test_defaults(self):
        self.assert_reads_back(
            self.create(),
            {
                "DelaySeconds": "0",
                "MessageRetentionPeriod": "345600",
                "ReceiveMessageWaitTimeSeconds": "0",
                "VisibilityTimeout": "30",
                "SqsManagedSseEnabled": "true",
                "ApproximateNumberOfMessages": "0",
                "ApproximateNumberOfMessagesNotVisible": "0",
                "ApproximateNumberOfMessagesDelayed": "0",
            },
        )

    def test_fifo(self):
        settings = {
            "FifoQueue": "true",
            "ContentBasedDeduplication": "true",
            "DeduplicationScope": "messageGroup",
            "FifoThroughputLimit": "perMessageGroupId",
        }
        url = self.create_fifo(**settings)
        self.assert_reads_back(url, settings)
        back = {
            "ContentBasedDeduplication": "false",
            "DeduplicationScope": "queue",
            "FifoThroughputLimit": "perQueue",
        }
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes=back)
        self.assert_reads_back(url, back)

    def test_encryption_key(self):
        settings = {"KmsMasterKeyId": "alias/aws/sqs", "KmsDataKeyReusePeriodSeconds": "600"}
        url = self.create(settings)
        self.assert_reads_back(url, {**settings, "SqsManagedSseEnabled": "false"})
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"KmsMasterKeyId": ""})
        self.assertNotIn("KmsMasterKeyId", self.attributes(url))

    def test_empty_value_removes(self):
        settings = self.settings()
        url = self.create(settings)
        removable = ["Policy", "RedrivePolicy", "RedriveAllowPolicy"]
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes=dict.fromkeys(removable, ""))
        for name in removable:
            self.assertNotIn(name, self.attributes(url))


class Messages(Scenario):
    def test_send_and_receive(self):
        url = self.create()
        sent = self.sqs.send_message(
            QueueUrl=url,
            MessageBody=BODY,
            MessageAttributes=ATTRIBUTES,
            MessageSystemAttributes={
                "AWSTraceHeader": {
                    "DataType": "String",
                    "StringValue": "Root=1-5e3d83c1-e6a0db584850d61342823d4c",
                }
            },
        )
        (message,) = self.receive(url)
        self.assertEqual(message["MessageId"], sent["MessageId"])
        self.assertEqual(message["Body"], BODY)
        self.assertEqual(message["MessageAttributes"], ATTRIBUTES)
        self.assertEqual(message["MD5OfMessageAttributes"], sent["MD5OfMessageAttributes"])
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "1")
        self.assertTrue(message["Attributes"]["AWSTraceHeader"].startswith("Root="))
        self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def test_choice_of_attributes(self):
        url = self.create({"VisibilityTimeout": "0"})
        self.sqs.send_message(QueueUrl=url, MessageBody="x", MessageAttributes=ATTRIBUTES)

        def names(*asked):
            answer = self.sqs.receive_message(
                QueueUrl=url, MessageAttributeNames=list(asked), WaitTimeSeconds=2
            )
            return set(answer["Messages"][0].get("MessageAttributes", {}))

        self.assertEqual(names(), set())
        self.assertEqual(names("count", "none"), {"count"})
        self.assertEqual(names("co.*"), {"colour", "count"})
        self.assertEqual(names(".*"), set(ATTRIBUTES))

    def test_batch(self):
        url = self.create()
        entries = [
            {"Id": f"n-{i}", "MessageBody": f"{i} {BODY}", "MessageAttributes": ATTRIBUTES}
            for i in range(10)
        ]
        sent = self.sqs.send_message_batch(QueueUrl=url, Entries=entries)
        self.assertNotIn("Failed", sent)
        self.assertEqual([entry["Id"] for entry in sent["Successful"]], [e["Id"] for e in entries])
        messages = self.drain(url, 10)
        self.assertEqual(
            {message["Body"] for message in messages}, {e["MessageBody"] for e in entries}
        )
        handles = [
            {"Id": str(i), "ReceiptHandle": message["ReceiptHandle"]}
            for i, message in enumerate(messages)
        ]
        hidden = self.sqs.change_message_visibility_batch(
            QueueUrl=url, Entries=[{**handle, "VisibilityTimeout": 60} for handle in handles]
        )
        self.assertEqual(len(hidden["Successful"]), 10)
        handles[3]["ReceiptHandle"] = "nonsense"
        deleted = self.sqs.delete_message_batch(QueueUrl=url, Entries=handles)
        self.assertEqual(len(deleted["Successful"]), 9)
        (failure,) = deleted["Failed"]
        self.assertEqual(
            (failure["Id"], failure["Code"], failure["SenderFault"]),
            ("3", "ReceiptHandleIsInvalid", True),
        )

    def test_change_visibility(self):
        url = self.create()
        self.sqs.send_message(QueueUrl=url, MessageBody="again")
        (message,) = self.receive(url)
        self.assertEqual(self.receive(url, WaitTimeSeconds=0), [])
        self.sqs.change_message_visibility(
            QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
        )
        (message,) = self.receive(url)
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "2")

    def test_long_poll_waits(self):
        url = self.create()
        began = time.monotonic()
        self.assertEqual(self.receive(url, WaitTimeSeconds=1), [])
        self.assertGreater(time.monotonic() - began, 0.9)
        self.sqs.send_message(QueueUrl=url, MessageBody="soon", DelaySeconds=1)
        began = time.monotonic()
        self.assertEqual(len(self.receive(url, WaitTimeSeconds=10)), 1)
        self.assertLess(time.monotonic() - began, 5)

    def test_counts(self):
        url = self.create()
        for delay in (0, 0, 900):
            self.sqs.send_message(QueueUrl=url, MessageBody="x", DelaySeconds=delay)
        self.receive(url, MaxNumberOfMessages=1)
        counts = self.attributes(
            url,
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        )
        self.assertEqual(set(counts.values()), {"1"})
        self.assertEqual(len(counts), 3)

    def test_message_of_one_mebibyte(self):
        url = self.create({"MaximumMessageSize": "1048576"})
        body = "é" * (512 * 1024)
        self.sqs.send_message(QueueUrl=url, MessageBody=body)
        (message,) = self.receive(url)
        self.assertEqual(message["Body"], body)
        too_long = "must be shorter than 1048576 bytes"
        with self.assertRaisesRegex(botocore.exceptions.ClientError, too_long):
            self.sqs.send_message(QueueUrl=url, MessageBody=body + "x")

    def test_presigned_url(self):
        url = self.create()
        presigned = self.sqs.generate_presigned_url(
            "send_message", Params={"QueueUrl": url, "MessageBody": "by link"}, HttpMethod="GET"
        )
        # A JSON client signs a link without the call in it, which no server could serve.
        if "Action=" not in presigned:
            self.skipTest("this boto3 cannot presign SQS requests")
        urllib.request.urlopen(presigned).read()
        self.assertEqual(self.receive(url)[0]["Body"], "by link")


class Fifo(Scenario):
    def send(self, url, body, group="g", **more):
        return self.sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=group, **more)

    def test_order_in_a_group(self):
        url = self.create_fifo(ContentBasedDeduplication="true")
        numbers = [int(self.send(url, f"{i}")["SequenceNumber"]) for i in range(4)]
        self.assertEqual(numbers, sorted(numbers))
        (first,) = self.receive(url, MaxNumberOfMessages=1)
        self.assertEqual(first["Body"], "0")
        self.assertEqual(first["Attributes"]["MessageGroupId"], "g")
        self.assertEqual(first["Attributes"]["SequenceNumber"], str(numbers[0]))
        self.assertEqual(self.receive(url, WaitTimeSeconds=0), [], "the group is locked")
        self.send(url, "other group", group="h")
        self.assertEqual([m["Body"] for m in self.receive(url)], ["other group"])
        self.sqs.delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])
        self.assertEqual([m["Body"] for m in self.receive(url)], ["1", "2", "3"])

    def test_duplicates(self):
        url = self.create_fifo()
        first = self.send(url, "one", MessageDeduplicationId="same")
        second = self.send(url, "two", MessageDeduplicationId="same")
        self.assertEqual(second["MessageId"], first["MessageId"])
        self.assertEqual(second["SequenceNumber"], first["SequenceNumber"])
        (message,) = self.receive(url)
        self.assertEqual(message["Body"], "one")
        self.assertEqual(message["Attributes"]["MessageDeduplicationId"], "same")

    def test_repeated_receive_attempt(self):
        url = self.create_fifo()
        self.send(url, "x", MessageDeduplicationId="x")
        attempt = uuid.uuid4().hex
        (first,) = self.receive(url, ReceiveRequestAttemptId=attempt)
        (second,) = self.receive(url, ReceiveRequestAttemptId=attempt)
        self.assertEqual(first["MessageId"], second["MessageId"])

    def test_what_is_missing(self):
        url = self.create_fifo()
        with self.assertRaisesRegex(botocore.exceptions.ClientError, "MessageGroupId"):
            self.sqs.send_message(QueueUrl=url, MessageBody="x", MessageDeduplicationId="d")
        with self.assertRaisesRegex(botocore.exceptions.ClientError, "ContentBasedDeduplication"):
            self.send(url, "x")


class DeadLetters(Scenario):
    def setUp(self):
        super().setUp()
        self.dead = self.create()
        self.source = self.create(
            {
                "VisibilityTimeout": "0",
                "RedrivePolicy": json.dumps(
                    {"deadLetterTargetArn": self.arn(self.dead), "maxReceiveCount": "1"}
                ),
            }
        )

    def poison(self, *bodies):
        """Sends the bodies and receives them once too often."""
        for body in bodies:
            self.sqs.send_message(QueueUrl=self.source, MessageBody=body)
        while self.receive(self.source, WaitTimeSeconds=0):
            pass

    def test_redrive(self):
        self.poison("poison")
        (message,) = self.receive(self.dead)
        self.assertEqual(message["Body"], "poison")
        self.assertEqual(message["Attributes"]["DeadLetterQueueSourceArn"], self.arn(self.source))

    def test_sources(self):
        pages = self.sqs.get_paginator("list_dead_letter_source_queues").paginate(
            QueueUrl=self.dead
        )
        self.assertEqual([url for page in pages for url in page["queueUrls"]], [self.source])

    def test_move_back(self):
        self.poison("a", "b", "c")
        self.sqs.set_queue_attributes(
            QueueUrl=self.source, Attributes={"VisibilityTimeout": "30"}
        )
        dead = self.arn(self.dead)
        self.assertTrue(self.sqs.start_message_move_task(SourceArn=dead)["TaskHandle"])
        for _ in range(50):
            (task,) = self.sqs.list_message_move_tasks(SourceArn=dead)["Results"]
            if task["Status"] != "RUNNING":
                break
            time.sleep(0.1)
        self.assertEqual(task["Status"], "COMPLETED")
        self.assertEqual(task["ApproximateNumberOfMessagesMoved"], 3)
        self.assertLess(abs(task["StartedTimestamp"] / 1000 - time.time()), 3600)
        self.assertEqual({m["Body"] for m in self.drain(self.source, 3)}, {"a", "b", "c"})

    def test_cancel_a_move(self):
        self.poison(*(str(i) for i in range(10)))
        dead, aside = self.arn(self.dead), self.arn(self.create())
        task = self.sqs.start_message_move_task(
            SourceArn=dead, DestinationArn=aside, MaxNumberOfMessagesPerSecond=1
        )
        moved = self.sqs.cancel_message_move_task(TaskHandle=task["TaskHandle"])
        self.assertLess(moved["ApproximateNumberOfMessagesMoved"], 10)
        with self.assertRaises(self.errors.ResourceNotFoundException):
            self.sqs.start_message_move_task(SourceArn=dead + "-none")


class Errors(Scenario):
    """Programs catch errors by class, so each class has to come out of its cause."""

    def test_unknown_queue(self):
        url = self.create()
        with self.assertRaises(self.errors.QueueDoesNotExist) as caught:
            self.sqs.receive_message(QueueUrl=url + "-none")
        error = caught.exception.response
        self.assertEqual(error["Error"]["Code"], "AWS.SimpleQueueService.NonExistentQueue")
        self.assertEqual(error["ResponseMetadata"]["HTTPStatusCode"], 400)
        self.assertTrue(error["ResponseMetadata"]["RequestId"])

    def test_handles(self):
        url = self.create()
        with self.assertRaises(self.errors.ReceiptHandleIsInvalid):
            self.sqs.delete_message(QueueUrl=url, ReceiptHandle="nonsense")
        with self.assertRaises(self.errors.ReceiptHandleIsInvalid):
            self.sqs.change_message_visibility(
                QueueUrl=url, ReceiptHandle="nonsense", VisibilityTimeout=1
            )

    def test_batches(self):
        url = self.create()

        def send(*ids):
            entries = [{"Id": id, "MessageBody": "x"} for id in ids]
            self.sqs.send_message_batch(QueueUrl=url, Entries=entries)

        with self.assertRaises(self.errors.EmptyBatchRequest):
            send()
        with self.assertRaises(self.errors.TooManyEntriesInBatchRequest):
            send(*(str(i) for i in range(11)))
        with self.assertRaises(self.errors.BatchEntryIdsNotDistinct):
            send("a", "b", "a")
        with self.assertRaises(self.errors.InvalidBatchEntryId):
            send("no spaces")
        with self.assertRaises(self.errors.BatchRequestTooLong):
            half = "x" * (600 * 1024)
            self.sqs.send_message_batch(
                QueueUrl=url, Entries=[{"Id": id, "MessageBody": half} for id in "ab"]
            )

    def test_contents(self):
        url = self.create()
        with self.assertRaises(self.errors.InvalidMessageContents):
            self.sqs.send_message(QueueUrl=url, MessageBody="bell \a")
        with self.assertRaises(self.errors.UnsupportedOperation):
            self.sqs.send_message(
                QueueUrl=url,
                MessageBody="x",
                MessageAttributes={"list": {"DataType": "String", "StringListValues": ["a"]}},
            )

    def test_queue_attributes(self):
        url = self.create()
        with self.assertRaises(self.errors.InvalidAttributeName):
            self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"Colour": "red"})
        with self.assertRaises(self.errors.InvalidAttributeName):
            self.attributes(url, "Colour")
        # InvalidAttributeValue is newer than the Query-era models, so it is checked by code.
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": "901"})
        self.assertEqual(caught.exception.response["Error"]["Code"], "InvalidAttributeValue")

    def test_credentials(self):
        url = self.create()
        for key, secret, code in [
            ("AKIDNOBODY", "x", "InvalidClientTokenId"),
            (os.environ["AWS_ACCESS_KEY_ID"], "wrong", "SignatureDoesNotMatch"),
        ]:
            stranger = boto3.client(
                "sqs",
                endpoint_url=ENDPOINT,
                aws_access_key_id=key,
                aws_secret_access_key=secret,
            )
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                stranger.receive_message(QueueUrl=url)
            self.assertEqual(caught.exception.response["Error"]["Code"], code)


class Resources(Scenario):
    """boto3's object interface."""

    def test_queue_and_message(self):
        sqs = boto3.resource("sqs", endpoint_url=ENDPOINT)
        queue = sqs.Queue(self.create())
        self.assertEqual(queue.attributes["VisibilityTimeout"], "30")
        queue.send_message(MessageBody=BODY, MessageAttributes=ATTRIBUTES)
        (message,) = queue.receive_messages(MessageAttributeNames=["All"], WaitTimeSeconds=2)
        self.assertEqual(message.body, BODY)
        self.assertEqual(message.message_attributes, ATTRIBUTES)
        message.change_visibility(VisibilityTimeout=30)
        message.delete()
        listed = sqs.queues.filter(QueueNamePrefix=queue.url.rsplit("/", 1)[1])
        self.assertEqual([found.url for found in listed], [queue.url])
        self.assertEqual(list(queue.dead_letter_source_queues.all()), [])
        queue.delete()


if __name__ == "__main__":
    print(f"boto3 {boto3.__version__} against {ENDPOINT}")
    unittest.main()
