import com.amazon.sqs.javamessaging.ProviderConfiguration;
import com.amazon.sqs.javamessaging.SQSConnectionFactory;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.batchmanager.SqsAsyncBatchManager;
import software.amazon.awssdk.services.sqs.model.*;

/**
 * Everything an application does with SQS, done with the AWS SDK for Java 2 against a running
 * server: with the plain client, with the batch manager and through JMS.
 *
 * <p>The server is found the way any AWS program finds it: AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY and AWS_REGION. The SDK verifies the MD5 of bodies and attributes by
 * itself; a wrong digest is an exception.
 */
public final class Scenario {
  private static final String BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n";

  private static final Map<String, MessageAttributeValue> ATTRIBUTES =
      Map.of(
          "colour", text("String", "blå <&> \r\n"),
          "count", text("Number", "-12.50"),
          "price", text("Number.float", "1e3"),
          "blob", binary("Binary", 0, 1, 127, 128, 255),
          "picture", binary("Binary.png", 0x89, 'P', 'N', 'G'));

  private final SqsClient sqs = SqsClient.create();
  private final List<String> queues = new ArrayList<>();

  public static void main(String[] args) {
    Scenario scenario = new Scenario();
    Map<String, Step> steps = new LinkedHashMap<>();
    steps.put("queues", scenario::queues);
    steps.put("list in pages", scenario::pages);
    steps.put("attributes read back", scenario::attributesReadBack);
    steps.put("tags", scenario::tags);
    steps.put("send and receive", scenario::sendAndReceive);
    steps.put("batches", scenario::batches);
    steps.put("FIFO", scenario::fifo);
    steps.put("dead letters", scenario::deadLetters);
    steps.put("errors", scenario::errors);
    steps.put("batch manager", scenario::batchManager);
    steps.put("JMS", scenario::jms);
    steps.put("JMS on FIFO", scenario::jmsFifo);

    int failed = 0;
    for (Map.Entry<String, Step> step : steps.entrySet()) {
      try {
        step.getValue().run();
        System.out.println("ok      " + step.getKey());
      } catch (Throwable problem) {
        failed++;
        System.out.println("FAILED  " + step.getKey() + ": " + problem);
        problem.printStackTrace(System.out);
      }
    }
    scenario.deleteQueues();
    System.exit(failed == 0 ? 0 : 1);
  }

  private void queues() {
    String url = create(Map.of(QueueAttributeName.DELAY_SECONDS, "3"));
    String name = nameOf(url);
    equal(url, sqs.getQueueUrl(r -> r.queueName(name)).queueUrl());
    equal(url, sqs.createQueue(r -> r.queueName(name)).queueUrl());
    fails(
        QueueNameExistsException.class,
        () ->
            sqs.createQueue(
                r -> r.queueName(name).attributes(Map.of(QueueAttributeName.DELAY_SECONDS, "4"))));
    sqs.deleteQueue(r -> r.queueUrl(url));
    fails(QueueDoesNotExistException.class, () -> sqs.getQueueUrl(r -> r.queueName(name)));
    fails(QueueDeletedRecentlyException.class, () -> sqs.createQueue(r -> r.queueName(name)));
  }

  private void pages() {
    String prefix = "paged-" + UUID.randomUUID() + "-";
    for (int i = 0; i < 5; i++) {
      String name = prefix + i;
      queues.add(sqs.createQueue(r -> r.queueName(name)).queueUrl());
    }
    List<Integer> sizes =
        sqs.listQueuesPaginator(r -> r.queueNamePrefix(prefix).maxResults(2)).stream()
            .map(page -> page.queueUrls().size())
            .toList();
    equal(List.of(2, 2, 1), sizes);
    equal(false, sqs.listQueues(r -> r.queueNamePrefix(prefix + "none")).hasQueueUrls());
  }

  private void attributesReadBack() {
    String dead = arn(create(Map.of()));
    Map<QueueAttributeName, String> settings =
        Map.of(
            QueueAttributeName.DELAY_SECONDS, "7",
            QueueAttributeName.MAXIMUM_MESSAGE_SIZE, "2048",
            QueueAttributeName.MESSAGE_RETENTION_PERIOD, "86400",
            QueueAttributeName.RECEIVE_MESSAGE_WAIT_TIME_SECONDS, "5",
            QueueAttributeName.VISIBILITY_TIMEOUT, "45",
            QueueAttributeName.REDRIVE_POLICY, redriveTo(dead, 4),
            QueueAttributeName.REDRIVE_ALLOW_POLICY, "{\"redrivePermission\":\"denyAll\"}");
    String created = create(settings);
    String changed = create(Map.of());
    sqs.setQueueAttributes(r -> r.queueUrl(changed).attributes(settings));
    for (String url : List.of(created, changed)) {
      Map<QueueAttributeName, String> got = attributes(url, QueueAttributeName.ALL);
      settings.forEach((name, value) -> equal(value, got.get(name)));
    }
  }

  private void tags() {
    String url = create(Map.of());
    Map<String, String> tags = Map.of("team", "måke", "empty", "");
    sqs.tagQueue(r -> r.queueUrl(url).tags(tags));
    equal(tags, sqs.listQueueTags(r -> r.queueUrl(url)).tags());
    sqs.untagQueue(r -> r.queueUrl(url).tagKeys(tags.keySet()));
    equal(false, sqs.listQueueTags(r -> r.queueUrl(url)).hasTags());
  }

  private void sendAndReceive() {
    String url = create(Map.of());
    SendMessageResponse sent =
        sqs.sendMessage(r -> r.queueUrl(url).messageBody(BODY).messageAttributes(ATTRIBUTES));
    Message message = receive(url).get(0);
    equal(sent.messageId(), message.messageId());
    equal(BODY, message.body());
    equal(ATTRIBUTES, message.messageAttributes());
    equal(sent.md5OfMessageAttributes(), message.md5OfMessageAttributes());

    sqs.changeMessageVisibility(
        r -> r.queueUrl(url).receiptHandle(message.receiptHandle()).visibilityTimeout(0));
    Message again = receive(url).get(0);
    equal("2", again.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT));
    sqs.deleteMessage(r -> r.queueUrl(url).receiptHandle(again.receiptHandle()));
    equal("0", attributes(url, QueueAttributeName.ALL)
        .get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE));
  }

  private void batches() {
    String url = create(Map.of());
    List<SendMessageBatchRequestEntry> entries =
        IntStream.range(0, 10)
            .mapToObj(
                i ->
                    SendMessageBatchRequestEntry.builder()
                        .id("n-" + i)
                        .messageBody(i + BODY)
                        .messageAttributes(ATTRIBUTES)
                        .build())
            .toList();
    SendMessageBatchResponse sent = sqs.sendMessageBatch(r -> r.queueUrl(url).entries(entries));
    equal(10, sent.successful().size());
    equal(false, sent.hasFailed());

    List<DeleteMessageBatchRequestEntry> handles = new ArrayList<>();
    handles.add(DeleteMessageBatchRequestEntry.builder().id("bad").receiptHandle("no").build());
    for (Message message : drain(url, 9)) {
      handles.add(
          DeleteMessageBatchRequestEntry.builder()
              .id(message.messageId())
              .receiptHandle(message.receiptHandle())
              .build());
    }
    DeleteMessageBatchResponse deleted =
        sqs.deleteMessageBatch(r -> r.queueUrl(url).entries(handles.subList(0, 10)));
    equal(9, deleted.successful().size());
    equal("bad", deleted.failed().get(0).id());
    equal("ReceiptHandleIsInvalid", deleted.failed().get(0).code());
  }

  private void fifo() {
    String url = createFifo();
    String first = sendTo(url, "1").messageId();
    equal(first, sendTo(url, "1").messageId());
    sendTo(url, "2");
    equal(List.of("1", "2"), receive(url).stream().map(Message::body).toList());
  }

  private void deadLetters() throws InterruptedException {
    String dead = create(Map.of());
    String source =
        create(
            Map.of(
                QueueAttributeName.VISIBILITY_TIMEOUT, "0",
                QueueAttributeName.REDRIVE_POLICY, redriveTo(arn(dead), 1)));
    sqs.sendMessage(r -> r.queueUrl(source).messageBody("poison"));
    equal(1, receive(source).size());
    equal(0, sqs.receiveMessage(r -> r.queueUrl(source)).messages().size());
    equal("1", attributes(dead, QueueAttributeName.ALL)
        .get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES));
    equal(
        List.of(source),
        sqs.listDeadLetterSourceQueues(r -> r.queueUrl(dead)).queueUrls());

    sqs.startMessageMoveTask(r -> r.sourceArn(arn(dead)));
    ListMessageMoveTasksResultEntry task;
    do {
      Thread.sleep(50);
      task = sqs.listMessageMoveTasks(r -> r.sourceArn(arn(dead))).results().get(0);
    } while (task.status().equals("RUNNING"));
    equal("COMPLETED", task.status());
    equal(1L, task.approximateNumberOfMessagesMoved());
    equal("poison", receive(source).get(0).body());
  }

  private void errors() {
    String url = create(Map.of());
    fails(
        QueueDoesNotExistException.class,
        () -> sqs.sendMessage(r -> r.queueUrl(url + "-none").messageBody("x")));
    fails(
        ReceiptHandleIsInvalidException.class,
        () -> sqs.deleteMessage(r -> r.queueUrl(url).receiptHandle("nonsense")));
    fails(
        EmptyBatchRequestException.class,
        () -> sqs.sendMessageBatch(r -> r.queueUrl(url).entries(List.of())));
    fails(
        InvalidMessageContentsException.class,
        () -> sqs.sendMessage(r -> r.queueUrl(url).messageBody("bell \u0007")));
    fails(
        InvalidAttributeNameException.class,
        () -> sqs.getQueueAttributes(r -> r.queueUrl(url).attributeNamesWithStrings("Colour")));
    fails(
        InvalidAttributeValueException.class,
        () ->
            sqs.setQueueAttributes(
                r ->
                    r.queueUrl(url).attributes(Map.of(QueueAttributeName.DELAY_SECONDS, "901"))));
    fails(
        ResourceNotFoundException.class,
        () -> sqs.startMessageMoveTask(r -> r.sourceArn(arn(url) + "-none")));
    sqs.purgeQueue(r -> r.queueUrl(url));
    fails(PurgeQueueInProgressException.class, () -> sqs.purgeQueue(r -> r.queueUrl(url)));
  }

  /** The batch manager collects single calls of many callers into batches, and prefetches. */
  private void batchManager() {
    String url = create(Map.of());
    try (SqsAsyncClient client = SqsAsyncClient.create();
        SqsAsyncBatchManager manager = client.batchManager()) {
      List<CompletableFuture<SendMessageResponse>> sends =
          IntStream.range(0, 25)
              .mapToObj(
                  i ->
                      manager.sendMessage(
                          r ->
                              r.queueUrl(url).messageBody(i + BODY).messageAttributes(ATTRIBUTES)))
              .toList();
      sends.forEach(CompletableFuture::join);

      List<String> got = new ArrayList<>();
      List<CompletableFuture<DeleteMessageResponse>> deletes = new ArrayList<>();
      while (got.size() < 25) {
        List<Message> messages =
            manager.receiveMessage(r -> r.queueUrl(url).maxNumberOfMessages(10)).join().messages();
        for (Message message : messages) {
          got.add(message.body());
          deletes.add(
              manager.deleteMessage(
                  r -> r.queueUrl(url).receiptHandle(message.receiptHandle())));
        }
      }
      deletes.forEach(CompletableFuture::join);
      equal(25L, got.stream().distinct().count());
    }
    Map<QueueAttributeName, String> counts = attributes(url, QueueAttributeName.ALL);
    equal("0", counts.get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES));
    equal("0", counts.get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE));
  }

  private void jms() throws Exception {
    String url = create(Map.of());
    overJms(
        url,
        (session, consumer) -> {
          TextMessage message = session.createTextMessage(BODY);
          message.setStringProperty("colour", "blå");
          message.setIntProperty("count", 3);
          message.setBooleanProperty("urgent", true);
          session.createProducer(session.createQueue(nameOf(url))).send(message);

          TextMessage got = (TextMessage) consumer.receive(5000);
          equal(BODY, got.getText());
          equal("blå", got.getStringProperty("colour"));
          equal(3, got.getIntProperty("count"));
          equal(true, got.getBooleanProperty("urgent"));
          got.acknowledge();
        });
    equal("0", attributes(url, QueueAttributeName.ALL)
        .get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE));
  }

  private void jmsFifo() throws Exception {
    String url = createFifo();
    overJms(
        url,
        (session, consumer) -> {
          var producer = session.createProducer(session.createQueue(nameOf(url)));
          for (String text : List.of("1", "2", "3")) {
            TextMessage message = session.createTextMessage(text);
            message.setStringProperty("JMSXGroupID", "g");
            producer.send(message);
          }
          for (String text : List.of("1", "2", "3")) {
            TextMessage got = (TextMessage) consumer.receive(5000);
            equal(text, got.getText());
            equal("g", got.getStringProperty("JMSXGroupID"));
            got.acknowledge();
          }
        });
  }

  private void overJms(String url, JmsUse use) throws Exception {
    var factory = new SQSConnectionFactory(new ProviderConfiguration(), sqs);
    var connection = factory.createConnection();
    try {
      Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
      connection.start();
      use.with(session, session.createConsumer(session.createQueue(nameOf(url))));
    } finally {
      connection.close();
    }
  }

  private String create(Map<QueueAttributeName, String> attributes) {
    return create("", attributes);
  }

  private String createFifo() {
    return create(
        ".fifo",
        Map.of(
            QueueAttributeName.FIFO_QUEUE, "true",
            QueueAttributeName.CONTENT_BASED_DEDUPLICATION, "true"));
  }

  private String create(String suffix, Map<QueueAttributeName, String> attributes) {
    String name = "java-" + UUID.randomUUID() + suffix;
    String url = sqs.createQueue(r -> r.queueName(name).attributes(attributes)).queueUrl();
    queues.add(url);
    return url;
  }

  private void deleteQueues() {
    for (String url : queues) {
      try {
        sqs.deleteQueue(r -> r.queueUrl(url));
      } catch (QueueDoesNotExistException gone) {
        // The step deleted it.
      }
    }
  }

  private SendMessageResponse sendTo(String fifo, String body) {
    return sqs.sendMessage(r -> r.queueUrl(fifo).messageBody(body).messageGroupId("g"));
  }

  private List<Message> receive(String url) {
    return sqs.receiveMessage(
            r ->
                r.queueUrl(url)
                    .maxNumberOfMessages(10)
                    .waitTimeSeconds(2)
                    .messageSystemAttributeNames(MessageSystemAttributeName.ALL)
                    .messageAttributeNames("All"))
        .messages();
  }

  /** Receives until at least count messages came: one receive may bring fewer. */
  private List<Message> drain(String url, int count) {
    List<Message> messages = new ArrayList<>();
    while (messages.size() < count) {
      List<Message> some = receive(url);
      equal(false, some.isEmpty());
      messages.addAll(some);
    }
    return messages;
  }

  private Map<QueueAttributeName, String> attributes(String url, QueueAttributeName... names) {
    return sqs.getQueueAttributes(r -> r.queueUrl(url).attributeNames(names)).attributes();
  }

  private String arn(String url) {
    return attributes(url, QueueAttributeName.QUEUE_ARN).get(QueueAttributeName.QUEUE_ARN);
  }

  private static String nameOf(String url) {
    return url.substring(url.lastIndexOf('/') + 1);
  }

  private static String redriveTo(String arn, int count) {
    return "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":%d}".formatted(arn, count);
  }

  private static MessageAttributeValue text(String type, String value) {
    return MessageAttributeValue.builder().dataType(type).stringValue(value).build();
  }

  private static MessageAttributeValue binary(String type, int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    SdkBytes value = SdkBytes.fromByteArray(bytes);
    return MessageAttributeValue.builder().dataType(type).binaryValue(value).build();
  }

  private static void equal(Object want, Object got) {
    if (!Objects.equals(want, got)) {
      throw new AssertionError("want " + want + ", got " + got);
    }
  }

  /** Asserts that the call throws the very class a program would catch. */
  private static void fails(Class<? extends SqsException> want, Runnable call) {
    try {
      call.run();
    } catch (SqsException got) {
      equal(want, got.getClass());
      equal(true, got.requestId() != null);
      return;
    }
    throw new AssertionError("want " + want.getSimpleName() + ", got an answer");
  }

  private interface Step {
    void run() throws Exception;
  }

  private interface JmsUse {
    void with(Session session, MessageConsumer consumer) throws Exception;
  }
}
