import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.camel.CamelContext;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * What an application does with SQS through Apache Camel, against a running server: routes that
 * make their queues, send, receive, extend, delete, and fail.
 *
 * <p>The server is found by AWS_ENDPOINT_URL, the keys and the region as any AWS program finds them.
 */
public final class Scenario {
  private static final String BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n";
  private static final String RUN = "camel-" + UUID.randomUUID();
  private static final String CLIENT =
      "&useDefaultCredentialsProvider=true&region=us-east-1&overrideEndpoint=true&uriEndpointOverride="
          + System.getenv("AWS_ENDPOINT_URL");

  /** What routes have taken, in the order in which they took it. */
  private static final BlockingQueue<String> TAKEN = new LinkedBlockingQueue<>();

  private final SqsClient sqs = SqsClient.create();
  private ProducerTemplate template;

  public static void main(String[] args) throws Exception {
    boolean good = new Scenario().run();
    System.exit(good ? 0 : 1);
  }

  private boolean run() throws Exception {
    Map<String, Step> steps = new LinkedHashMap<>();
    steps.put("send and receive", this::plain);
    steps.put("batch", this::batch);
    steps.put("extend", this::slow);
    steps.put("dead letters", this::deadLetters);
    steps.put("FIFO", this::fifo);
    String dead = sqs.createQueue(r -> r.queueName(RUN + "-dead")).queueUrl();
    String arn =
        sqs.getQueueAttributes(r -> r.queueUrl(dead).attributeNames(QueueAttributeName.QUEUE_ARN))
            .attributes()
            .get(QueueAttributeName.QUEUE_ARN);
    sqs.createQueue(
        r ->
            r.queueName(RUN + "-risky")
                .attributes(
                    Map.of(
                        QueueAttributeName.VISIBILITY_TIMEOUT, "1",
                        QueueAttributeName.REDRIVE_POLICY,
                            "{\"deadLetterTargetArn\":\"" + arn + "\",\"maxReceiveCount\":2}")));
    boolean good = true;
    try (CamelContext context = new DefaultCamelContext()) {
      context.getShutdownStrategy().setTimeout(10);
      context.addRoutes(new Routes());
      context.start();
      template = context.createProducerTemplate();
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
    }
    for (String name : List.of("plain", "batch", "slow", "steps.fifo", "risky", "dead")) {
      sqs.deleteQueue(r -> r.queueUrl(url(name)));
    }
    return good;
  }

  private static final class Routes extends RouteBuilder {
    @Override
    public void configure() {
      String made = "?autoCreateQueue=true&waitTimeSeconds=1" + CLIENT;
      from(queue("plain") + made + "&messageAttributeNames=All&maxMessagesPerPoll=10")
          .process(e -> TAKEN.add(e.getIn().getHeader("colour") + " " + e.getIn().getBody(String.class)));
      from(queue("batch") + made + "&maxMessagesPerPoll=10").process(e -> TAKEN.add(e.getIn().getBody(String.class)));
      // It takes longer than a message is given: Camel extends that while the route works.
      from(queue("slow") + made + "&visibilityTimeout=20&extendMessageVisibility=true")
          .delay(22_000)
          .process(e -> TAKEN.add(e.getIn().getBody(String.class)));
      from(queue("risky") + "?waitTimeSeconds=1" + CLIENT)
          .process(
              e -> {
                TAKEN.add(e.getIn().getBody(String.class));
                throw new IllegalStateException("it is meant to fail");
              });
      from(queue("steps.fifo") + made + "&messageGroupIdStrategy=useConstant&messageDeduplicationIdStrategy=useContentBasedDeduplication&maxMessagesPerPoll=10")
          .process(e -> TAKEN.add(e.getIn().getBody(String.class)));
    }
  }

  private void plain() throws Exception {
    template.sendBodyAndHeader(queue("plain") + "?" + CLIENT.substring(1), BODY, "colour", "blå");
    equal("blå " + BODY, taken());
    empties("plain");
  }

  private void batch() throws Exception {
    List<String> want = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      want.add("m" + i);
    }
    template.sendBody(queue("batch") + "?operation=sendBatchMessage" + CLIENT, want);
    List<String> got = new ArrayList<>();
    while (got.size() < want.size()) {
      got.add(taken());
    }
    got.sort(null);
    equal(want, got);
    empties("batch");
  }

  private void slow() throws Exception {
    template.sendBody(queue("slow") + "?" + CLIENT.substring(1), "slow");
    equal("slow", taken());
    empties("slow");
    equal(null, TAKEN.poll()); // no other consumer got it meanwhile
  }

  private void deadLetters() throws Exception {
    template.sendBody(queue("risky") + "?" + CLIENT.substring(1), "poison");
    equal("poison", taken());
    equal("poison", taken()); // it is tried twice
    eventually(
        "the message is in the dead-letter queue",
        () ->
            sqs.receiveMessage(r -> r.queueUrl(url("dead")).waitTimeSeconds(1)).messages().stream()
                .anyMatch(m -> m.body().equals("poison")));
  }

  private void fifo() throws Exception {
    List<String> want = new ArrayList<>();
    String to = queue("steps.fifo") + "?messageGroupIdStrategy=useConstant&messageDeduplicationIdStrategy=useContentBasedDeduplication" + CLIENT;
    for (int i = 0; i < 10; i++) {
      template.sendBody(to, "step " + i);
      template.sendBody(to, "step " + i); // a duplicate
      want.add("step " + i);
    }
    List<String> got = new ArrayList<>();
    while (got.size() < want.size()) {
      got.add(taken());
    }
    equal(want, got);
    empties("steps.fifo");
  }

  private static String queue(String name) {
    return "aws2-sqs://" + RUN + "-" + name;
  }

  private String url(String name) {
    return sqs.getQueueUrl(r -> r.queueName(RUN + "-" + name)).queueUrl();
  }

  private static String taken() throws InterruptedException {
    return TAKEN.poll(60, TimeUnit.SECONDS);
  }

  /** Waits until everything in a queue is deleted. */
  private void empties(String name) throws Exception {
    eventually(
        name + " is empty",
        () -> {
          Map<QueueAttributeName, String> counts =
              sqs.getQueueAttributes(r -> r.queueUrl(url(name)).attributeNames(QueueAttributeName.ALL))
                  .attributes();
          return counts.get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES).equals("0")
              && counts.get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE).equals("0");
        });
  }

  private static void eventually(String what, BooleanSupplier holds) throws InterruptedException {
    for (long end = System.nanoTime() + 60_000_000_000L; !holds.getAsBoolean(); Thread.sleep(20)) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not after a minute: " + what);
      }
    }
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
