import "reflect-metadata";

import { SQSClient, CreateQueueCommand } from "@aws-sdk/client-sqs";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { SqsModule } from "@ssut/nestjs-sqs";

import { Jobs } from "./jobs.js";

// The endpoint, the keys and the region come from the environment.
const sqs = new SQSClient({});

@Module({
  imports: [
    SqsModule.registerAsync({
      useFactory: async () => {
        const { QueueUrl: queueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName: "nestjs-jobs" }));
        return {
          consumers: [{ name: "jobs", queueUrl, sqs, waitTimeSeconds: 10 }],
          producers: [{ name: "jobs", queueUrl, sqs }],
        };
      },
    }),
  ],
  providers: [Jobs],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ["error", "warn"] });
const jobs = app.get(Jobs);
await jobs.greet("world");
await jobs.finished;
await app.close();
sqs.destroy();
