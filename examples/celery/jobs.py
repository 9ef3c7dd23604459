"""Tasks of Celery that wait in a queue of Sluice.

kombu takes the endpoint in the URL of the broker, and the keys and the region from the environment.
"""

import os
from urllib.parse import urlsplit

from celery import Celery

endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_SQS") or os.environ["AWS_ENDPOINT_URL"])

app = Celery("jobs", broker=f"sqs://{endpoint.netloc}//")
app.conf.broker_transport_options = {
    "is_secure": endpoint.scheme == "https",
    "region": os.environ.get("AWS_REGION", "us-east-1"),
    "wait_time_seconds": 10,
    # A task that takes longer is also given to another worker.
    "visibility_timeout": 300,
}
app.conf.task_default_queue = "celery-jobs"
# A task is deleted when it is done, not when it starts, because the worker may die.
app.conf.task_acks_late = True


@app.task(autoretry_for=(OSError,), retry_backoff=True, max_retries=5)
def greet(name):
    print(f"hello, {name}", flush=True)
