"""Sends a task, and works until it is done."""

from celery import signals
from celery.contrib.testing.worker import start_worker

from threading import Event

from jobs import app, greet

done = Event()


@signals.task_success.connect(sender=greet)
def note(**_):
    done.set()


# In production the worker is a separate program: celery -A jobs worker
with start_worker(app, perform_ping_check=False, pool="solo"):
    greet.delay("world")
    if not done.wait(120):
        raise SystemExit("the task was not done within two minutes")
