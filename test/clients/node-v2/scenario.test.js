// What an application does with SQS, done with the AWS SDK for JavaScript v2 against a running server: with its last version,
// which speaks JSON, and with one from before November 2023, which speaks Query.
//
// The server is found by AWS_ENDPOINT_URL; keys and region are where the SDK looks for them. The SDK verifies the MD5 of
// bodies by itself; a wrong digest is an error.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, test } from "node:test";
import last from "aws-sdk";
import query from "aws-sdk-query";

const BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n";

for (const [name, AWS] of Object.entries({ last, query })) {
  describe(`${name} ${AWS.VERSION}`, () => scenario(AWS));
}

function scenario(AWS) {
  const sqs = new AWS.SQS({ endpoint: process.env.AWS_ENDPOINT_URL });
  const queues = [];
  after(() => Promise.all(queues.map((QueueUrl) => sqs.deleteQueue({ QueueUrl }).promise())));

  async function create(Attributes = {}, suffix = "") {
    const QueueName = `node-${randomUUID()}${suffix}`;
    const { QueueUrl } = await sqs.createQueue({ QueueName, Attributes, tags: { team: "måke" } }).promise();
    queues.push(QueueUrl);
    return QueueUrl;
  }

  async function attributes(QueueUrl) {
    return (await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ["All"] }).promise()).Attributes;
  }

  async function receive(QueueUrl, WaitTimeSeconds = 2) {
    const options = { MaxNumberOfMessages: 10, AttributeNames: ["All"], MessageAttributeNames: ["All"] };
    return (await sqs.receiveMessage({ QueueUrl, WaitTimeSeconds, ...options }).promise()).Messages ?? [];
  }

  const remove = (QueueUrl, m) => sqs.deleteMessage({ QueueUrl, ReceiptHandle: m.ReceiptHandle }).promise();

  test("send, receive, delete", async () => {
    const url = await create();
    const MessageAttributes = {
      colour: { DataType: "String", StringValue: "blå <&> \r\n" },
      count: { DataType: "Number", StringValue: "-12.50" },
      blob: { DataType: "Binary.png", BinaryValue: Buffer.from([0, 0x89, 0xff]) },
    };
    const sent = await sqs.sendMessage({ QueueUrl: url, MessageBody: BODY, MessageAttributes }).promise();
    const [m] = await receive(url);
    assert.equal(m.MessageId, sent.MessageId);
    assert.equal(m.Body, BODY);
    assert.equal(m.MessageAttributes.colour.StringValue, MessageAttributes.colour.StringValue);
    assert.deepEqual(Buffer.from(m.MessageAttributes.blob.BinaryValue), MessageAttributes.blob.BinaryValue);
    await remove(url, m);
    assert.equal((await attributes(url)).ApproximateNumberOfMessagesNotVisible, "0");
    assert.deepEqual((await sqs.listQueueTags({ QueueUrl: url }).promise()).Tags, { team: "måke" });
  });

  test("batches", async () => {
    const url = await create();
    const sent = await sqs.sendMessageBatch({
      QueueUrl: url,
      Entries: [{ Id: "good", MessageBody: BODY }, { Id: "bad", MessageBody: "\u0001" }],
    }).promise();
    assert.deepEqual(sent.Successful.map((e) => e.Id), ["good"]);
    assert.equal(sent.Failed[0].Code, "InvalidMessageContents");
    const [m] = await receive(url);
    const deleted = await sqs.deleteMessageBatch({
      QueueUrl: url,
      Entries: [{ Id: "a", ReceiptHandle: m.ReceiptHandle }, { Id: "b", ReceiptHandle: "garbage" }],
    }).promise();
    assert.deepEqual([deleted.Successful[0].Id, deleted.Failed[0].Code], ["a", "ReceiptHandleIsInvalid"]);
  });

  test("visibility", async () => {
    const url = await create({ VisibilityTimeout: "1" });
    await sqs.sendMessage({ QueueUrl: url, MessageBody: "a" }).promise();
    const [m] = await receive(url);
    await sqs.changeMessageVisibility({ QueueUrl: url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 60 }).promise();
    assert.deepEqual(await receive(url), []);
    await remove(url, m);
  });

  test("dead letters", async () => {
    const dead = await create();
    const deadLetterTargetArn = (await attributes(dead)).QueueArn;
    const url = await create({ VisibilityTimeout: "0", RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 }) });
    await sqs.sendMessage({ QueueUrl: url, MessageBody: "poison" }).promise();
    for (let i = 0; i < 2; i++) assert.equal((await receive(url)).length, 1);
    assert.deepEqual(await receive(url, 0), []);
    const [m] = await receive(dead);
    assert.equal(m.Body, "poison");
  });

  test("FIFO", async () => {
    const url = await create({ FifoQueue: "true", ContentBasedDeduplication: "true" }, ".fifo");
    for (let i = 0; i < 5; i++) {
      for (let k = 0; k < 2; k++) { // the second is a duplicate
        await sqs.sendMessage({ QueueUrl: url, MessageBody: String(i), MessageGroupId: "g" }).promise();
      }
    }
    const order = [];
    while (order.length < 5) {
      const messages = await receive(url);
      assert.notEqual(messages.length, 0);
      for (const m of messages) {
        order.push(m.Body);
        await remove(url, m);
      }
    }
    assert.deepEqual(order, ["0", "1", "2", "3", "4"]);
    assert.deepEqual(await receive(url, 0), []);
  });

  test("errors", async () => {
    const url = await create();
    await assert.rejects(sqs.getQueueUrl({ QueueName: "nowhere" }).promise(), { code: "AWS.SimpleQueueService.NonExistentQueue" });
    await assert.rejects(sqs.deleteMessage({ QueueUrl: url, ReceiptHandle: "x" }).promise(), { code: "ReceiptHandleIsInvalid" });
  });
}
