import com.amazon.sqs.javamessaging.ProviderConfiguration;
import com.amazon.sqs.javamessaging.SQSConnectionFactory;
import com.amazonaws.auth.DefaultAWSCredentialsProviderChain;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.sqs.AmazonSQS;
import com.amazonaws.services.sqs.AmazonSQSAsyncClientBuilder;
import com.amazonaws.services.sqs.AmazonSQSClient;
import com.amazonaws.services.sqs.AmazonSQSClientBuilder;
import com.amazonaws.services.sqs.buffered.AmazonSQSBufferedAsyncClient;
import com.amazonaws.services.sqs.buffered.QueueBufferConfig;
import com.amazonaws.services.sqs.model.*;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Future;
import javax.jms.MessageConsumer;
import javax.jms.Session;
import javax.jms.TextMessage;

/**
 * What an application does with SQS, done with the AWS SDK for Java 1 against a running server: with
 * the plain client, with the one that buffers, through the JMS library of that SDK, and with the
 * calls of the sample program of Amazon's guide to FIFO queues.
 *
 * <p>The server is found by AWS_ENDPOINT_URL; keys and region are where the SDK looks for them. The
 * SDK verifies the MD5 of bodies and attributes by itself; a wrong digest is an exception.
 */
public final class Scenario {
  private static final String BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n";

  private static final EndpointConfiguration SERVER =
      new EndpointConfiguration(System.getenv("AWS_ENDPOINT_URL"), System.getenv("AWS_REGION"));

  private final AmazonSQS sqs = AmazonSQSClientBuilder.standard().withEndpointConfiguration(SERVER).build();
  private final List<String> queues = new ArrayList<>();

  public static void main(String[] args) {
    Scenario scenario = new Scenario();
    Map<String, Step> steps = new LinkedHashMap<>();
    steps.put("send and receive", scenario::sendAndReceive);
    steps.put("batches", scenario::batches);
    steps.put("visibility", scenario::visibility);
    steps.put("dead letters", scenario::deadLetters);
    steps.put("FIFO", scenario::fifo);
    steps.put("errors", scenario::errors);
    steps.put("the guide's FIFO sample", scenario::guide);
    steps.put("buffered client", scenario::buffered);
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
    scenario.queues.forEach(scenario.sqs::deleteQueue);
    System.exit(failed == 0 ? 0 : 1);
  }

  private void sendAndReceive() {
    String url = create(Map.of(), "");
    Map<String, MessageAttributeValue> attributes =
        Map.of(
            "colour", new MessageAttributeValue().withDataType("String").withStringValue("blå <&> \r\n"),
            "count", new MessageAttributeValue().withDataType("Number").withStringValue("-12.50"),
            "blob", new MessageAttributeValue().withDataType("Binary.png").withBinaryValue(ByteBuffer.wrap(new byte[] {0, -1})));
    SendMessageResult sent = sqs.sendMessage(new SendMessageRequest(url, BODY).withMessageAttributes(attributes));
    Message message = receive(url, 5).get(0);
    equal(sent.getMessageId(), message.getMessageId());
    equal(BODY, message.getBody());
    equal(attributes, message.getMessageAttributes());
    sqs.deleteMessage(url, message.getReceiptHandle());
    equal("0", attribute(url, "ApproximateNumberOfMessagesNotVisible"));
  }

  private void batches() {
    String url = create(Map.of(), "");
    SendMessageBatchResult sent =
        sqs.sendMessageBatch(
            url,
            List.of(new SendMessageBatchRequestEntry("good", BODY), new SendMessageBatchRequestEntry("bad", "\u0001")));
    equal("good", sent.getSuccessful().get(0).getId());
    equal("InvalidMessageContents", sent.getFailed().get(0).getCode());
    Message message = receive(url, 5).get(0);
    DeleteMessageBatchResult deleted =
        sqs.deleteMessageBatch(
            url,
            List.of(
                new DeleteMessageBatchRequestEntry("a", message.getReceiptHandle()),
                new DeleteMessageBatchRequestEntry("b", "garbage")));
    equal("a", deleted.getSuccessful().get(0).getId());
    equal("ReceiptHandleIsInvalid", deleted.getFailed().get(0).getCode());
  }

  private void visibility() {
    String url = create(Map.of("VisibilityTimeout", "1"), "");
    sqs.sendMessage(url, "a");
    Message message = receive(url, 5).get(0);
    sqs.changeMessageVisibility(url, message.getReceiptHandle(), 60);
    equal(List.of(), receive(url, 2));
    sqs.deleteMessage(url, message.getReceiptHandle());
  }

  private void deadLetters() {
    String dead = create(Map.of(), "");
    String policy = "{\"maxReceiveCount\":\"2\",\"deadLetterTargetArn\":\"" + attribute(dead, "QueueArn") + "\"}";
    String url = create(Map.of("VisibilityTimeout", "0", "RedrivePolicy", policy), "");
    sqs.sendMessage(url, "poison");
    for (int i = 0; i < 2; i++) {
      equal(1, receive(url, 5).size());
    }
    equal(List.of(), receive(url, 0));
    equal("poison", receive(dead, 5).get(0).getBody());
  }

  private void fifo() {
    String url = create(Map.of("FifoQueue", "true", "ContentBasedDeduplication", "true"), ".fifo");
    for (int i = 0; i < 5; i++) {
      for (int twice = 0; twice < 2; twice++) {
        sqs.sendMessage(new SendMessageRequest(url, "" + i).withMessageGroupId("g"));
      }
    }
    List<String> order = new ArrayList<>();
    while (order.size() < 5) {
      List<Message> messages = receive(url, 5);
      equal(false, messages.isEmpty());
      for (Message m : messages) {
        order.add(m.getBody());
        sqs.deleteMessage(url, m.getReceiptHandle());
      }
    }
    equal(List.of("0", "1", "2", "3", "4"), order);
    equal(List.of(), receive(url, 0));
  }

  private void errors() {
    String url = create(Map.of(), "");
    fails(QueueDoesNotExistException.class, () -> sqs.getQueueUrl("nowhere"));
    fails(ReceiptHandleIsInvalidException.class, () -> sqs.deleteMessage(url, "x"));
  }

  /** What SQSFIFOJavaClientSample of the guide calls, with the constructor that it uses. */
  @SuppressWarnings("deprecation")
  private void guide() {
    AmazonSQSClient client = new AmazonSQSClient(DefaultAWSCredentialsProviderChain.getInstance().getCredentials());
    client.setEndpoint(System.getenv("AWS_ENDPOINT_URL"));
    Map<String, String> attributes = new HashMap<>();
    attributes.put("FifoQueue", "true");
    attributes.put("ContentBasedDeduplication", "true");
    String url = client.createQueue(new CreateQueueRequest("MyFifoQueue.fifo").withAttributes(attributes)).getQueueUrl();
    equal(true, client.listQueues().getQueueUrls().contains(url));
    SendMessageRequest send = new SendMessageRequest(url, "This is my message text.");
    send.setMessageGroupId("messageGroup1");
    SendMessageResult sent = client.sendMessage(send);
    equal(false, sent.getSequenceNumber().isEmpty());
    List<Message> messages = client.receiveMessage(new ReceiveMessageRequest(url)).getMessages();
    equal(sent.getMessageId(), messages.get(0).getMessageId());
    equal("This is my message text.", messages.get(0).getBody());
    client.deleteMessage(new DeleteMessageRequest(url, messages.get(0).getReceiptHandle()));
    client.deleteQueue(new DeleteQueueRequest(url));
  }

  /** The client of the guide's appendix on buffering, which ours in Go is made after. */
  private void buffered() throws Exception {
    String url = create(Map.of(), "");
    AmazonSQSBufferedAsyncClient client =
        new AmazonSQSBufferedAsyncClient(
            AmazonSQSAsyncClientBuilder.standard().withEndpointConfiguration(SERVER).build(),
            new QueueBufferConfig().withLongPollWaitTimeoutSeconds(1)); // for which its shutdown waits
    List<Future<SendMessageResult>> sent = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      sent.add(client.sendMessageAsync(new SendMessageRequest(url, "" + i)));
    }
    for (Future<SendMessageResult> s : sent) {
      s.get();
    }
    TreeSet<Integer> got = new TreeSet<>();
    List<Future<DeleteMessageResult>> deleted = new ArrayList<>();
    while (got.size() < 50) {
      for (Message m : client.receiveMessage(new ReceiveMessageRequest(url)).getMessages()) {
        got.add(Integer.valueOf(m.getBody()));
        deleted.add(client.deleteMessageAsync(new DeleteMessageRequest(url, m.getReceiptHandle())));
      }
    }
    for (Future<DeleteMessageResult> d : deleted) {
      d.get();
    }
    client.shutdown();
    equal("0", attribute(url, "ApproximateNumberOfMessagesNotVisible"));
  }

  private void jms() throws Exception {
    String url = create(Map.of(), "");
    inSession(
        new ProviderConfiguration(),
        session -> {
          var queue = session.createQueue(nameOf(url));
          TextMessage out = session.createTextMessage(BODY);
          out.setStringProperty("colour", "blå");
          out.setIntProperty("count", 7);
          session.createProducer(queue).send(out);
          MessageConsumer consumer = session.createConsumer(queue);
          TextMessage in = (TextMessage) consumer.receive(5000);
          equal(BODY, in.getText());
          equal("blå", in.getStringProperty("colour"));
          equal(7, in.getIntProperty("count"));
          in.acknowledge();
          equal(null, consumer.receiveNoWait());
        });
    equal("0", attribute(url, "ApproximateNumberOfMessagesNotVisible"));
  }

  private void jmsFifo() throws Exception {
    String url = create(Map.of("FifoQueue", "true"), ".fifo");
    inSession(
        new ProviderConfiguration().withNumberOfMessagesToPrefetch(0),
        session -> {
          var queue = session.createQueue(nameOf(url));
          var producer = session.createProducer(queue);
          for (int i = 0; i < 3; i++) {
            TextMessage m = session.createTextMessage("" + i);
            m.setStringProperty("JMSXGroupID", "g");
            m.setStringProperty("JMS_SQS_DeduplicationId", "" + i);
            producer.send(m);
          }
          MessageConsumer consumer = session.createConsumer(queue);
          for (int i = 0; i < 3; i++) {
            TextMessage in = (TextMessage) consumer.receive(5000);
            equal("" + i, in.getText());
            in.acknowledge();
          }
        });
  }

  private void inSession(ProviderConfiguration configuration, InSession f) throws Exception {
    var connection = new SQSConnectionFactory(configuration, sqs).createConnection();
    try {
      connection.start();
      f.run(connection.createSession(false, Session.CLIENT_ACKNOWLEDGE));
    } finally {
      connection.close();
    }
  }

  private String create(Map<String, String> attributes, String suffix) {
    String name = "java-" + UUID.randomUUID() + suffix;
    String url = sqs.createQueue(new CreateQueueRequest(name).withAttributes(attributes)).getQueueUrl();
    queues.add(url);
    return url;
  }

  private List<Message> receive(String url, int seconds) {
    return sqs.receiveMessage(
            new ReceiveMessageRequest(url)
                .withMaxNumberOfMessages(10)
                .withWaitTimeSeconds(seconds)
                .withAttributeNames("All")
                .withMessageAttributeNames("All"))
        .getMessages();
  }

  private String attribute(String url, String name) {
    return sqs.getQueueAttributes(url, List.of("All")).getAttributes().get(name);
  }

  private static String nameOf(String url) {
    return url.substring(url.lastIndexOf('/') + 1);
  }

  private static void equal(Object want, Object got) {
    if (!Objects.equals(want, got)) {
      throw new AssertionError("got " + got + ", want " + want);
    }
  }

  private static void fails(Class<? extends Exception> want, Step step) {
    try {
      step.run();
    } catch (Throwable got) {
      equal(want, got.getClass());
      return;
    }
    throw new AssertionError("it succeeded, want " + want);
  }

  private interface Step {
    void run() throws Exception;
  }

  private interface InSession {
    void run(Session session) throws Exception;
  }
}
