package example;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Sends to the queue "spring-jobs", and works on what is in it. */
@SpringBootApplication
public class Jobs {
  /** What a message says, which travels as JSON. */
  public record Greeting(String name) {}

  private final CountDownLatch done = new CountDownLatch(1);

  /** A message whose listener throws stays in the queue, and comes again. */
  @SqsListener("spring-jobs")
  void greet(Greeting greeting) {
    System.out.println("hello, " + greeting.name());
    done.countDown();
  }

  public static void main(String[] args) throws InterruptedException {
    try (var context = SpringApplication.run(Jobs.class, args)) {
      context.getBean(SqsTemplate.class).send("spring-jobs", new Greeting("world"));
      if (!context.getBean(Jobs.class).done.await(2, TimeUnit.MINUTES)) {
        throw new IllegalStateException("the message was not worked on within two minutes");
      }
    }
  }
}
