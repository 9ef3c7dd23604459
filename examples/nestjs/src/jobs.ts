import type { Message } from "@aws-sdk/client-sqs";
import { Injectable } from "@nestjs/common";
import { SqsConsumerEventHandler, SqsMessageHandler, SqsService } from "@ssut/nestjs-sqs";

/** Sends to the queue "nestjs-jobs", and works on what is in it. */
@Injectable()
export class Jobs {
  private finish!: () => void;

  /** Fulfilled when a message was worked on and deleted. */
  readonly finished = new Promise<void>((resolve) => (this.finish = resolve));

  constructor(private readonly sqs: SqsService) {}

  async greet(name: string): Promise<void> {
    await this.sqs.send("jobs", { id: crypto.randomUUID(), body: { name } });
  }

  /** A message whose handler throws stays in the queue, and comes again. */
  @SqsMessageHandler("jobs")
  async handle(message: Message): Promise<void> {
    const { name } = JSON.parse(message.Body ?? "{}") as { name: string };
    console.log(`hello, ${name}`);
  }

  @SqsConsumerEventHandler("jobs", "message_processed")
  processed(): void {
    this.finish();
  }

  @SqsConsumerEventHandler("jobs", "processing_error")
  failed(error: Error): void {
    console.error("a message could not be worked on:", error.message);
  }
}
