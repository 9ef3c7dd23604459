package sluice;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.QueueNotFoundStrategy;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * What an application does with Spring Cloud AWS, against a running server: listeners, which
 * acknowledge, fail and extend, and templates.
 *
 * <p>The server is found by AWS_ENDPOINT_URL, the keys and the region as any AWS program finds them.
 */
@SpringBootApplication
public class Scenario {
  private static final String BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n";
  private static final String RUN = "spring-" + UUID.randomUUID();

  /** What listeners have taken, in the order in which they took it. */
  private static final BlockingQueue<String> TAKEN = new LinkedBlockingQueue<>();

  private final SqsAsyncClient sqs;
  private final SqsTemplate template;
  private final List<String> queues = new ArrayList<>();

  /** An order, which travels as JSON. */
  public record Order(String item, int count) {}

  public static void main(String[] args) throws Exception {
    // The listeners' queues must be there before they start.
    try (SqsAsyncClient sqs = SqsAsyncClient.create()) {
      Map<String, Map<QueueAttributeName, String>> queues = new LinkedHashMap<>();
      queues.put("dead", Map.of());
      queues.put("plain", Map.of());
      queues.put("json", Map.of());
      queues.put("slow", Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "30"));
      queues.put("template", Map.of());
      queues.put(
          "steps.fifo",
          Map.of(
              QueueAttributeName.FIFO_QUEUE, "true",
              QueueAttributeName.CONTENT_BASED_DEDUPLICATION, "true"));
      queues.forEach((name, attributes) -> create(sqs, name, attributes));
      String dead =
          sqs.getQueueAttributes(
                  r -> r.queueUrl(url(sqs, "dead")).attributeNames(QueueAttributeName.QUEUE_ARN))
              .join()
              .attributes()
              .get(QueueAttributeName.QUEUE_ARN);
      create(
          sqs,
          "risky",
          Map.of(
              QueueAttributeName.VISIBILITY_TIMEOUT, "0",
              QueueAttributeName.REDRIVE_POLICY,
                  "{\"deadLetterTargetArn\":\"" + dead + "\",\"maxReceiveCount\":2}"));
    }
    Map<String, Object> properties =
        Map.of(
            "run", RUN,
            "spring.cloud.aws.endpoint", System.getenv("AWS_ENDPOINT_URL"),
            "spring.main.banner-mode", "off",
            "logging.level.root", "error",
            "logging.level.io.awspring.cloud.sqs.listener", "off"); // a listener fails on purpose
    boolean good;
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(Scenario.class)
            .web(WebApplicationType.NONE)
            .properties(properties)
            .run(args)) {
      good = context.getBean(Scenario.class).run();
    }
    System.exit(good ? 0 : 1);
  }

  Scenario(SqsAsyncClient sqs, SqsTemplate template) {
    this.sqs = sqs;
    this.template = template;
  }

  private boolean run() {
    Map<String, Step> steps = new LinkedHashMap<>();
    steps.put("a listener", this::listener);
    steps.put("JSON", this::json);
    steps.put("extend", this::extend);
    steps.put("dead letters", this::deadLetters);
    steps.put("FIFO", this::fifo);
    steps.put("template", this::template);
    boolean good = true;
    for (Map.Entry<String, Step> step : steps.entrySet()) {
      try {
        step.getValue().run();
        System.out.println("ok      " + step.getKey());
      } catch (Throwable problem) {
        good = false;
        System.out.println("FAILED  " + step.getKey() + ": " + problem);
        problem.printStackTrace(System.out);
      }
    }
    for (String name : List.of("plain", "json", "slow", "template", "risky", "steps.fifo", "dead")) {
      sqs.deleteQueue(r -> r.queueUrl(url(sqs, name))).join();
    }
    return good;
  }

  @SqsListener("${run}-plain")
  void plain(String body, @Header("colour") String colour) {
    TAKEN.add(colour + " " + body);
  }

  private void listener() throws Exception {
    template.send(to -> to.queue(RUN + "-plain").payload(BODY).header("colour", "blå"));
    equal("blå " + BODY, taken());
    empties("plain");
  }

  @SqsListener("${run}-json")
  void order(Order order) {
    TAKEN.add(order.item() + " " + order.count());
  }

  private void json() throws Exception {
    template.send(RUN + "-json", new Order("tea", 3));
    equal("tea 3", taken());
    empties("json");
  }

  /** It takes longer than it was given, says so, and acknowledges by itself. */
  @SqsListener(value = "${run}-slow", acknowledgementMode = "MANUAL")
  void slow(String body, Visibility visibility, Acknowledgement acknowledgement) {
    visibility.changeTo(600);
    TAKEN.add(body);
    acknowledgement.acknowledge();
  }

  private void extend() throws Exception {
    template.send(RUN + "-slow", "slow");
    equal("slow", taken());
    empties("slow");
  }

  @SqsListener("${run}-risky")
  void risky(String body) {
    TAKEN.add(body);
    throw new IllegalStateException("it is meant to fail");
  }

  private void deadLetters() throws Exception {
    template.send(RUN + "-risky", "poison");
    equal("poison", taken());
    equal("poison", taken()); // it is tried twice
    Message<String> dead =
        template.receive(from -> from.queue(RUN + "-dead").pollTimeout(PATIENCE), String.class).orElseThrow();
    equal("poison", dead.getPayload());
  }

  @SqsListener("${run}-steps.fifo")
  void step(String body) {
    TAKEN.add(body);
  }

  private void fifo() throws Exception {
    List<String> want = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      String body = "step " + i;
      for (int k = 0; k < 2; k++) { // the second is a duplicate
        template.send(to -> to.queue(RUN + "-steps.fifo").payload(body).messageGroupId("g"));
      }
      want.add(body);
    }
    List<String> got = new ArrayList<>();
    while (got.size() < want.size()) {
      got.add(taken());
    }
    equal(want, got);
    empties("steps.fifo");
  }

  private void template() throws InterruptedException {
    List<Message<String>> messages = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      messages.add(MessageBuilder.withPayload("m" + i).build());
    }
    equal(10, template.sendMany(RUN + "-template", messages).successful().size());
    List<String> got = new ArrayList<>();
    while (got.size() < 10) {
      template
          .receiveMany(from -> from.queue(RUN + "-template").pollTimeout(PATIENCE).maxNumberOfMessages(10), String.class)
          .forEach(m -> got.add(m.getPayload()));
    }
    Collections.sort(got);
    equal(messages.stream().map(Message::getPayload).toList(), got);
    empties("template");
  }

  private static final java.time.Duration PATIENCE = java.time.Duration.ofSeconds(10);

  private static String taken() throws InterruptedException {
    return TAKEN.poll(60, TimeUnit.SECONDS);
  }

  /** Waits until everything in a queue is acknowledged: listeners do that in batches. */
  private void empties(String name) throws InterruptedException {
    for (long end = System.nanoTime() + 60_000_000_000L; ; ) {
      Map<QueueAttributeName, String> counts =
          sqs.getQueueAttributes(
                  r -> r.queueUrl(url(sqs, name)).attributeNames(QueueAttributeName.ALL))
              .join()
              .attributes();
      String left =
          counts.get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES)
              + " visible, "
              + counts.get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE)
              + " in flight";
      if (left.equals("0 visible, 0 in flight")) {
        return;
      }
      if (System.nanoTime() > end) {
        throw new AssertionError(name + " has " + left);
      }
      Thread.sleep(20);
    }
  }

  private static void create(SqsAsyncClient sqs, String name, Map<QueueAttributeName, String> attributes) {
    sqs.createQueue(r -> r.queueName(RUN + "-" + name).attributes(attributes)).join();
  }

  private static String url(SqsAsyncClient sqs, String name) {
    return sqs.getQueueUrl(r -> r.queueName(RUN + "-" + name)).join().queueUrl();
  }

  private static void equal(Object want, Object got) {
    if (!Objects.equals(want, got)) {
      throw new AssertionError("want " + want + ", got " + got);
    }
  }

  private interface Step {
    void run() throws Exception;
  }
}
