import boto3

sqs = boto3.client("sqs")
url = sqs.create_queue(QueueName="jobs")["QueueUrl"]
sqs.send_message(QueueUrl=url, MessageBody="hello")
for message in sqs.receive_message(QueueUrl=url, WaitTimeSeconds=10).get("Messages", []):
    print(message["Body"])
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
