import { SQS } from "@aws-sdk/client-sqs";

const sqs = new SQS({});
const { QueueUrl } = await sqs.createQueue({ QueueName: "jobs" });
await sqs.sendMessage({ QueueUrl, MessageBody: "hello" });
const { Messages = [] } = await sqs.receiveMessage({ QueueUrl, WaitTimeSeconds: 10 });
for (const { Body, ReceiptHandle } of Messages) {
  console.log(Body);
  await sqs.deleteMessage({ QueueUrl, ReceiptHandle });
}
