import software.amazon.awssdk.services.sqs.SqsClient;

public final class Jobs {
  public static void main(String[] args) {
    SqsClient sqs = SqsClient.create();
    String url = sqs.createQueue(r -> r.queueName("jobs")).queueUrl();
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("hello"));
    for (var message : sqs.receiveMessage(r -> r.queueUrl(url).waitTimeSeconds(10)).messages()) {
      System.out.println(message.body());
      sqs.deleteMessage(r -> r.queueUrl(url).receiptHandle(message.receiptHandle()));
    }
    sqs.close();
  }
}
