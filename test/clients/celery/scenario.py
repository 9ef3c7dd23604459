"""What an application does with Celery, whose broker is a running server.

kombu, the library under Celery, makes requests of its own besides those of boto3.

The server is found by AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
"""

import os
import queue
import time
import unittest
import urllib.parse
import uuid

import boto3
import celery
import kombu
from celery.contrib.testing.worker import start_worker

ENDPOINT = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL"])
KEY = urllib.parse.quote(os.environ["AWS_ACCESS_KEY_ID"], safe="")
SECRET = urllib.parse.quote(os.environ["AWS_SECRET_ACCESS_KEY"], safe="")
NAME = f"celery-{uuid.uuid4().hex}"

done = queue.Queue()

app = celery.Celery(broker=f"sqs://{KEY}:{SECRET}@{ENDPOINT.netloc}//")
app.conf.update(
    task_default_queue=NAME,
    broker_transport_options={
        "is_secure": ENDPOINT.scheme == "https",
        "region": "us-east-1",
        "visibility_timeout": 3,
        "wait_time_seconds": 1,
        "polling_interval": 0.1,
    },
    task_acks_late=True,
    worker_hijack_root_logger=False,
)


@app.task
def work(text):
    done.put(text)


@app.task(bind=True, max_retries=2)
def fails_twice(self, text):
    if self.request.retries < 2:
        raise self.retry(countdown=1)
    done.put(f"{text} at try {self.request.retries + 1}")


put_back = set()


@app.task
def is_put_back_once(text):
    done.put(text)
    if text not in put_back:
        put_back.add(text)
        raise celery.exceptions.Reject(requeue=True)


class Scenario(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sqs = boto3.client("sqs", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1")
        cls.worker = start_worker(app, perform_ping_check=False, pool="solo")
        cls.worker.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.worker.__exit__(None, None, None)
        for url in cls.sqs.list_queues(QueueNamePrefix=NAME)["QueueUrls"]:
            cls.sqs.delete_queue(QueueUrl=url)

    def results(self, n, seconds=20):
        deadline = time.monotonic() + seconds
        return [done.get(timeout=max(0.1, deadline - time.monotonic())) for _ in range(n)]

    def test_tasks(self):
        texts = [f"naïve ☃ 𝄞 <&\"'> {i}" for i in range(30)]
        for text in texts:
            work.delay(text)
        self.assertEqual(sorted(self.results(30)), sorted(texts))

    def test_retries(self):
        fails_twice.delay("done")
        self.assertEqual(self.results(1), ["done at try 3"])

    def test_countdown(self):
        start = time.monotonic()
        work.apply_async(["late"], countdown=2)
        self.assertEqual(self.results(1), ["late"])
        self.assertGreaterEqual(time.monotonic() - start, 1.5)

    def test_a_task_that_goes_back(self):
        is_put_back_once.delay("again")
        self.assertEqual(self.results(2), ["again", "again"])

    def test_nothing_is_left(self):
        work.delay("last")
        self.results(1)
        url = self.sqs.get_queue_url(QueueName=NAME)["QueueUrl"]
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"]
        for _ in range(100):
            left = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
            if set(left.values()) == {"0"}:
                return
            time.sleep(0.1)
        self.fail(f"messages are left: {left}")


if __name__ == "__main__":
    print(f"Celery {celery.__version__}, kombu {kombu.__version__}, against {ENDPOINT.geturl()}")
    unittest.main()
