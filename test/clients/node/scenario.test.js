// Everything an application does with SQS, done with the AWS SDK for JavaScript
// v3 against a running server, and with the two libraries most often put on
// top of it, sqs-consumer and sqs-producer.
//
// The server is found the way any AWS program finds it: AWS_ENDPOINT_URL,
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION.
//
// The SDK verifies the MD5 of bodies by itself; a wrong digest is an error.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import * as sdk from "@aws-sdk/client-sqs";
import { Consumer } from "sqs-consumer";
import { Producer } from "sqs-producer";

const sqs = new sdk.SQS({});
const queues = [];

const BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n";

const ATTRIBUTES = {
  colour: { DataType: "String", StringValue: "blå <&> \r\n" },
  count: { DataType: "Number", StringValue: "-12.50" },
  blob: { DataType: "Binary", BinaryValue: Uint8Array.from({ length: 256 }, (_, i) => i) },
  picture: { DataType: "Binary.png", BinaryValue: Uint8Array.of(0x89, 0x50) },
};

async function create(Attributes = {}, suffix = "", more = {}) {
  const QueueName = `node-${randomUUID()}${suffix}`;
  const { QueueUrl } = await sqs.createQueue({ QueueName, Attributes, ...more });
  queues.push(QueueUrl);
  return QueueUrl;
}

const createFifo = (attributes) => create({ FifoQueue: "true", ...attributes }, ".fifo");

const nameOf = (url) => url.split("/").at(-1);

async function attributes(QueueUrl, ...names) {
  const AttributeNames = names.length ? names : ["All"];
  return (await sqs.getQueueAttributes({ QueueUrl, AttributeNames })).Attributes ?? {};
}

const arn = async (url) => (await attributes(url, "QueueArn")).QueueArn;

async function receive(QueueUrl, options = {}) {
  const answer = await sqs.receiveMessage({
    QueueUrl,
    MaxNumberOfMessages: 10,
    WaitTimeSeconds: 2,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
    ...options,
  });
  return answer.Messages ?? [];
}

/** Receives until count messages came: one receive may bring fewer. */
async function drain(url, count) {
  const messages = [];
  while (messages.length < count) {
    const some = await receive(url);
    assert.notEqual(some.length, 0, `only ${messages.length} of ${count} messages arrived`);
    messages.push(...some);
  }
  return messages;
}

const bodies = (messages) => messages.map((message) => message.Body).sort();

/** Asserts that a call fails with an error of the class, which carries the code. */
function rejects(call, errorClass, code) {
  return assert.rejects(call, (error) => {
    assert.ok(error instanceof errorClass, `${error.name}: ${error.message}`);
    if (code) assert.equal(error.name, code);
    assert.ok(error.$metadata.requestId, "a request id");
    return true;
  });
}

after(async () => {
  for (const QueueUrl of queues) {
    await sqs.deleteQueue({ QueueUrl }).catch((error) => {
      if (!(error instanceof sdk.QueueDoesNotExist)) throw error;
    });
  }
});

test("a queue is created, found, listed and deleted", async () => {
  const url = await create({ DelaySeconds: "3" });
  const QueueName = nameOf(url);
  assert.equal((await sqs.getQueueUrl({ QueueName })).QueueUrl, url);
  assert.equal((await sqs.createQueue({ QueueName })).QueueUrl, url);
  await rejects(
    sqs.createQueue({ QueueName, Attributes: { DelaySeconds: "4" } }),
    sdk.QueueNameExists,
  );
  const listed = await sqs.listQueues({ QueueNamePrefix: QueueName });
  assert.deepEqual(listed.QueueUrls, [url]);
  await sqs.deleteQueue({ QueueUrl: url });
  await rejects(sqs.getQueueUrl({ QueueName }), sdk.QueueDoesNotExist);
  await rejects(sqs.createQueue({ QueueName }), sdk.QueueDeletedRecently);
});

test("queues are listed in pages", async () => {
  const prefix = `paged-${randomUUID()}-`;
  for (const i of [0, 1, 2, 3, 4]) {
    queues.push((await sqs.createQueue({ QueueName: prefix + i })).QueueUrl);
  }
  const sizes = [];
  for await (const page of sdk.paginateListQueues(
    { client: sqs, pageSize: 2 },
    { QueueNamePrefix: prefix },
  )) {
    sizes.push(page.QueueUrls.length);
  }
  assert.deepEqual(sizes, [2, 2, 1]);
  const none = await sqs.listQueues({ QueueNamePrefix: prefix + "none" });
  assert.equal(none.QueueUrls, undefined);
});

test("attributes read back as they were written", async () => {
  const dead = await arn(await create());
  const settings = {
    DelaySeconds: "7",
    MaximumMessageSize: "2048",
    MessageRetentionPeriod: "86400",
    ReceiveMessageWaitTimeSeconds: "5",
    VisibilityTimeout: "45",
    Policy: JSON.stringify({ Version: "2012-10-17", Statement: [
      { Effect: "Allow", Principal: "*", Action: "sqs:SendMessage", Resource: dead },
    ] }, null, 2),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead, maxReceiveCount: 4 }),
    RedriveAllowPolicy: JSON.stringify({ redrivePermission: "denyAll" }),
  };
  const created = await create(settings);
  const changed = await create();
  await sqs.setQueueAttributes({ QueueUrl: changed, Attributes: settings });
  for (const url of [created, changed]) {
    const got = await attributes(url);
    assert.deepEqual({ ...got, ...settings }, got);
  }
});

test("tags", async () => {
  const QueueUrl = await create({}, "", { tags: { team: "måke" } });
  await sqs.tagQueue({ QueueUrl, Tags: { stage: "test", empty: "" } });
  const { Tags } = await sqs.listQueueTags({ QueueUrl });
  assert.deepEqual(Tags, { team: "måke", stage: "test", empty: "" });
  await sqs.untagQueue({ QueueUrl, TagKeys: Object.keys(Tags) });
  assert.equal((await sqs.listQueueTags({ QueueUrl })).Tags, undefined);
});

test("a message arrives as it was sent", async () => {
  const QueueUrl = await create();
  const sent = await sqs.sendMessage({
    QueueUrl,
    MessageBody: BODY,
    MessageAttributes: ATTRIBUTES,
  });
  const [message] = await receive(QueueUrl);
  assert.equal(message.MessageId, sent.MessageId);
  assert.equal(message.Body, BODY);
  assert.equal(message.MD5OfMessageAttributes, sent.MD5OfMessageAttributes);
  for (const [name, { DataType, StringValue, BinaryValue }] of Object.entries(ATTRIBUTES)) {
    const got = message.MessageAttributes[name];
    assert.equal(got.DataType, DataType);
    assert.equal(got.StringValue, StringValue);
    assert.deepEqual(got.BinaryValue && [...got.BinaryValue], BinaryValue && [...BinaryValue]);
  }
  const { ReceiptHandle } = message;
  await sqs.changeMessageVisibility({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
  const [again] = await receive(QueueUrl);
  assert.equal(again.Attributes.ApproximateReceiveCount, "2");
  await sqs.deleteMessage({ QueueUrl, ReceiptHandle: again.ReceiptHandle });
  assert.deepEqual(await receive(QueueUrl, { WaitTimeSeconds: 1 }), []);
});

test("batches", async () => {
  const QueueUrl = await create();
  const sent = await sqs.sendMessageBatch({
    QueueUrl,
    Entries: Array.from({ length: 10 }, (_, i) => ({
      Id: `n-${i}`,
      MessageBody: `${i} ${BODY}`,
      MessageAttributes: ATTRIBUTES,
    })),
  });
  assert.equal(sent.Successful.length, 10);
  assert.equal(sent.Failed, undefined);
  const messages = await drain(QueueUrl, 10);
  const Entries = messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
  const hidden = await sqs.changeMessageVisibilityBatch({
    QueueUrl,
    Entries: Entries.map((entry) => ({ ...entry, VisibilityTimeout: 60 })),
  });
  assert.equal(hidden.Successful.length, 10);
  Entries[3].ReceiptHandle = "nonsense";
  const deleted = await sqs.deleteMessageBatch({ QueueUrl, Entries });
  assert.equal(deleted.Successful.length, 9);
  assert.equal(deleted.Failed[0].Id, "3");
  assert.equal(deleted.Failed[0].Code, "ReceiptHandleIsInvalid");
});

test("a long poll ends when a message comes, or when it is abandoned", async () => {
  const QueueUrl = await create();
  const waiting = receive(QueueUrl, { WaitTimeSeconds: 20 });
  await sqs.sendMessage({ QueueUrl, MessageBody: "at last" });
  assert.deepEqual(bodies(await waiting), ["at last"]);

  const abort = new AbortController();
  const abandoned = sqs.send(
    new sdk.ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }),
    { abortSignal: abort.signal },
  );
  setTimeout(() => abort.abort(), 300);
  await assert.rejects(abandoned, { name: "AbortError" });
  await sqs.sendMessage({ QueueUrl, MessageBody: "not swallowed" });
  assert.deepEqual(bodies(await receive(QueueUrl)), ["not swallowed"]);
});

test("FIFO: order and deduplication", async () => {
  const QueueUrl = await createFifo({ ContentBasedDeduplication: "true" });
  const send = (MessageBody, more) =>
    sqs.sendMessage({ QueueUrl, MessageBody, MessageGroupId: "g", ...more });
  const first = await send("1");
  assert.equal((await send("1")).MessageId, first.MessageId);
  await send("2");
  await send("other", { MessageDeduplicationId: "explicit" });
  await send("ignored", { MessageDeduplicationId: "explicit" });
  const messages = await receive(QueueUrl);
  assert.deepEqual(messages.map((message) => message.Body), ["1", "2", "other"]);
  assert.equal(messages[0].Attributes.SequenceNumber, first.SequenceNumber);
  await rejects(
    sqs.sendMessage({ QueueUrl, MessageBody: "x" }),
    sdk.SQSServiceException,
    "MissingParameter",
  );
});

test("dead letters are moved there and back", async () => {
  const dead = await create();
  const SourceArn = await arn(dead);
  const QueueUrl = await create({
    VisibilityTimeout: "0",
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: SourceArn, maxReceiveCount: "1" }),
  });
  await sqs.sendMessage({ QueueUrl, MessageBody: "poison" });
  await receive(QueueUrl);
  assert.deepEqual(await receive(QueueUrl, { WaitTimeSeconds: 0 }), []);
  const { ApproximateNumberOfMessages } = await attributes(dead);
  assert.equal(ApproximateNumberOfMessages, "1");
  const sources = await sqs.listDeadLetterSourceQueues({ QueueUrl: dead });
  assert.deepEqual(sources.queueUrls, [QueueUrl]);

  await sqs.startMessageMoveTask({ SourceArn });
  let task;
  do {
    [task] = (await sqs.listMessageMoveTasks({ SourceArn })).Results;
  } while (task.Status === "RUNNING");
  assert.equal(task.Status, "COMPLETED");
  assert.equal(task.ApproximateNumberOfMessagesMoved, 1);
  assert.deepEqual(bodies(await receive(QueueUrl)), ["poison"]);
});

test("errors come as their classes", async () => {
  const QueueUrl = await create();
  const send = (...ids) =>
    sqs.sendMessageBatch({
      QueueUrl,
      Entries: ids.map((Id) => ({ Id, MessageBody: "x" })),
    });
  await rejects(
    sqs.sendMessage({ QueueUrl: QueueUrl + "-none", MessageBody: "x" }),
    sdk.QueueDoesNotExist,
  );
  await rejects(
    sqs.deleteMessage({ QueueUrl, ReceiptHandle: "nonsense" }),
    sdk.ReceiptHandleIsInvalid,
  );
  await rejects(send(), sdk.EmptyBatchRequest);
  await rejects(send("a", "a"), sdk.BatchEntryIdsNotDistinct);
  await rejects(send("no spaces"), sdk.InvalidBatchEntryId);
  await rejects(send(..."abcdefghijk"), sdk.TooManyEntriesInBatchRequest);
  await rejects(sqs.sendMessage({ QueueUrl, MessageBody: "\u0007" }), sdk.InvalidMessageContents);
  await rejects(attributes(QueueUrl, "Colour"), sdk.InvalidAttributeName);
  await rejects(
    sqs.setQueueAttributes({ QueueUrl, Attributes: { DelaySeconds: "901" } }),
    sdk.InvalidAttributeValue,
  );
  await sqs.purgeQueue({ QueueUrl });
  await rejects(sqs.purgeQueue({ QueueUrl }), sdk.PurgeQueueInProgress);
  await rejects(
    sqs.startMessageMoveTask({ SourceArn: (await arn(QueueUrl)) + "-none" }),
    sdk.ResourceNotFoundException,
  );
});

test("sqs-producer sends what sqs-consumer handles", async () => {
  const queueUrl = await create();
  const producer = Producer.create({ queueUrl, sqs });
  const wanted = Array.from({ length: 25 }, (_, i) => ({
    id: `m${i}`,
    body: `${i} ${BODY}`,
    messageAttributes: { n: { DataType: "Number", StringValue: `${i}` } },
  }));
  await producer.send(wanted);
  assert.equal(await producer.queueSize(), 25);

  const handled = [];
  await new Promise((resolve, reject) => {
    const consumer = Consumer.create({
      queueUrl,
      sqs,
      batchSize: 10,
      waitTimeSeconds: 1,
      messageAttributeNames: ["All"],
      handleMessage: async (message) => {
        handled.push(message);
        return message;
      },
    });
    for (const event of ["error", "processing_error", "timeout_error"]) consumer.on(event, reject);
    consumer.on("empty", () => consumer.stop());
    consumer.on("stopped", resolve);
    consumer.start();
  });
  assert.deepEqual(bodies(handled), wanted.map(({ body }) => body).sort());
  assert.equal(await producer.queueSize(), 0);
});
