<?php
// What applications do with SQS in PHP, against a running server: with the client of AsyncAws, and with Symfony Messenger on
// top of it. Both are Debian's packages, from before November 2023, and speak Query.
//
// The server is found by AWS_ENDPOINT_URL; keys and region are where the client looks for them.

require_once 'AsyncAws/Sqs/autoload.php';
require_once 'Symfony/Component/HttpClient/autoload.php';
require_once 'Symfony/Component/Messenger/autoload.php';
require_once 'Symfony/Component/Messenger/Bridge/AmazonSqs/autoload.php';

use AsyncAws\Core\Exception\Http\HttpException;
use AsyncAws\Sqs\SqsClient;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFifoStamp;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsTransport;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\Connection;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;

const BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n";

/** What is sent through Messenger. */
final class Order
{
    public function __construct(public string $item, public int $count)
    {
    }
}

final class Scenario
{
    private SqsClient $sqs;
    private array $queues = [];

    public function __construct()
    {
        $this->sqs = new SqsClient(['endpoint' => getenv('AWS_ENDPOINT_URL')]);
    }

    public function run(): bool
    {
        $good = true;
        foreach (['queues', 'sendAndReceive', 'batches', 'visibility', 'deadLetters', 'fifo', 'errors', 'messenger', 'messengerFifo'] as $step) {
            try {
                $this->$step();
                echo "ok      $step\n";
            } catch (Throwable $problem) {
                $good = false;
                echo "FAILED  $step: $problem\n";
            }
        }
        foreach ($this->queues as $url) {
            $this->sqs->deleteQueue(['QueueUrl' => $url])->resolve();
        }

        return $good;
    }

    private function queues(): void
    {
        $url = $this->create(['DelaySeconds' => '3']);
        equal($url, $this->sqs->getQueueUrl(['QueueName' => basename($url)])->getQueueUrl());
        equal('3', $this->attributes($url)['DelaySeconds']);
        equal([$url], iterator_to_array($this->sqs->listQueues(['QueueNamePrefix' => basename($url), 'MaxResults' => 1])->getQueueUrls(), false));
        equal(true, $this->sqs->queueExists(['QueueName' => basename($url)])->isSuccess());
        equal(false, $this->sqs->queueExists(['QueueName' => 'nowhere'])->isSuccess());
    }

    private function sendAndReceive(): void
    {
        $url = $this->create();
        $attributes = [
            'colour' => ['DataType' => 'String', 'StringValue' => "blå <&> \r\n"],
            'count' => ['DataType' => 'Number', 'StringValue' => '-12.50'],
            'blob' => ['DataType' => 'Binary.png', 'BinaryValue' => "\x00\x01\x89\xfe\xff"],
        ];
        $sent = $this->sqs->sendMessage(['QueueUrl' => $url, 'MessageBody' => BODY, 'MessageAttributes' => $attributes]);
        equal(md5(BODY), $sent->getMd5OfMessageBody());
        [$m] = $this->receive($url);
        equal($sent->getMessageId(), $m->getMessageId());
        equal(BODY, $m->getBody());
        equal($sent->getMd5OfMessageAttributes(), $m->getMd5OfMessageAttributes());
        foreach ($attributes as $name => $want) {
            $got = $m->getMessageAttributes()[$name];
            equal(array_values($want), [$got->getDataType(), $got->getStringValue() ?? $got->getBinaryValue()]);
        }
        $this->remove($url, $m);
        equal('0', $this->attributes($url)['ApproximateNumberOfMessagesNotVisible']);
    }

    private function batches(): void
    {
        $url = $this->create();
        $sent = $this->sqs->sendMessageBatch(['QueueUrl' => $url, 'Entries' => [
            ['Id' => 'good', 'MessageBody' => BODY], ['Id' => 'bad', 'MessageBody' => "\x01"],
        ]]);
        equal(['good'], array_map(fn ($e) => $e->getId(), $sent->getSuccessful()));
        equal(['InvalidMessageContents'], array_map(fn ($e) => $e->getCode(), $sent->getFailed()));
        [$m] = $this->receive($url);
        $deleted = $this->sqs->deleteMessageBatch(['QueueUrl' => $url, 'Entries' => [
            ['Id' => 'a', 'ReceiptHandle' => $m->getReceiptHandle()], ['Id' => 'b', 'ReceiptHandle' => 'garbage'],
        ]]);
        equal(['a'], array_map(fn ($e) => $e->getId(), $deleted->getSuccessful()));
        equal(['ReceiptHandleIsInvalid'], array_map(fn ($e) => $e->getCode(), $deleted->getFailed()));
    }

    private function visibility(): void
    {
        $url = $this->create(['VisibilityTimeout' => '600']);
        $this->send($url, 'a');
        $change = fn ($m, $seconds) => $this->sqs->changeMessageVisibility(
            ['QueueUrl' => $url, 'ReceiptHandle' => $m->getReceiptHandle(), 'VisibilityTimeout' => $seconds])->resolve();
        $change($this->receive($url)[0], 0);
        [$again] = $this->receive($url);
        equal('2', $again->getAttributes()['ApproximateReceiveCount']);
        $change($again, 900);
        equal([], $this->receive($url, 0));
    }

    private function deadLetters(): void
    {
        $dead = $this->create();
        $policy = json_encode(['deadLetterTargetArn' => $this->attributes($dead)['QueueArn'], 'maxReceiveCount' => 1]);
        $url = $this->create(['VisibilityTimeout' => '0', 'RedrivePolicy' => $policy]);
        $this->send($url, 'poison');
        equal(1, count($this->receive($url)));
        equal([], $this->receive($url, 0));
        equal('poison', $this->receive($dead)[0]->getBody());
    }

    private function fifo(): void
    {
        $url = $this->create(['FifoQueue' => 'true', 'ContentBasedDeduplication' => 'true'], '.fifo');
        for ($i = 0; $i < 5; ++$i) {
            $first = $this->send($url, "$i", ['MessageGroupId' => 'g']);
            equal($first->getMessageId(), $this->send($url, "$i", ['MessageGroupId' => 'g'])->getMessageId());
        }
        $order = [];
        while (count($order) < 5) {
            foreach ($this->receive($url) as $m) {
                $order[] = $m->getBody();
                $this->remove($url, $m);
            }
        }
        equal(['0', '1', '2', '3', '4'], $order);
    }

    private function errors(): void
    {
        $url = $this->create();
        fails('AWS.SimpleQueueService.NonExistentQueue', fn () => $this->sqs->getQueueUrl(['QueueName' => 'nowhere'])->resolve());
        fails('ReceiptHandleIsInvalid', fn () => $this->sqs->deleteMessage(['QueueUrl' => $url, 'ReceiptHandle' => 'x'])->resolve());
        fails('InvalidMessageContents', fn () => $this->send($url, "\x01"));
    }

    /** Messenger makes its queue by itself, prefetches, and deletes what was handled. */
    private function messenger(): void
    {
        $transport = $this->transport('');
        $transport->send(new Envelope(new Order('tea', 3)));
        $transport->send(new Envelope(new Order('milk', 1), [new DelayStamp(1000)]));
        $got = [];
        while (count($got) < 2) {
            foreach ($transport->get() as $envelope) {
                $got[] = $envelope->getMessage();
                $transport->ack($envelope);
            }
        }
        equal([new Order('tea', 3), new Order('milk', 1)], $got);
        equal(0, $transport->getMessageCount());
    }

    private function messengerFifo(): void
    {
        $transport = $this->transport('.fifo');
        for ($i = 0; $i < 5; ++$i) {
            $transport->send(new Envelope(new Order("n$i", $i), [new AmazonSqsFifoStamp('g', "id-$i")]));
        }
        $order = [];
        while (count($order) < 5) {
            foreach ($transport->get() as $envelope) {
                $order[] = $envelope->getMessage()->count;
                $transport->ack($envelope);
            }
        }
        equal([0, 1, 2, 3, 4], $order);
    }

    private function transport(string $suffix): AmazonSqsTransport
    {
        $name = 'messenger-'.bin2hex(random_bytes(8)).$suffix;
        $server = parse_url(getenv('AWS_ENDPOINT_URL'));
        $keys = rawurlencode(getenv('AWS_ACCESS_KEY_ID')).':'.rawurlencode(getenv('AWS_SECRET_ACCESS_KEY'));
        $dsn = "sqs://$keys@{$server['host']}:{$server['port']}/$name?sslmode=disable&region=us-east-1&wait_time=2&poll_timeout=10";
        $connection = Connection::fromDsn($dsn);
        $connection->setup();
        $this->queues[] = $this->sqs->getQueueUrl(['QueueName' => $name])->getQueueUrl();

        return new AmazonSqsTransport($connection);
    }

    private function create(array $attributes = [], string $suffix = ''): string
    {
        $name = 'php-'.bin2hex(random_bytes(8)).$suffix;
        $url = $this->sqs->createQueue(['QueueName' => $name, 'Attributes' => $attributes, 'tags' => ['team' => 'måke']])->getQueueUrl();
        $this->queues[] = $url;

        return $url;
    }

    private function attributes(string $url): array
    {
        return $this->sqs->getQueueAttributes(['QueueUrl' => $url, 'AttributeNames' => ['All']])->getAttributes();
    }

    private function send(string $url, string $body, array $more = [])
    {
        $sent = $this->sqs->sendMessage(['QueueUrl' => $url, 'MessageBody' => $body] + $more);
        $sent->resolve();

        return $sent;
    }

    private function receive(string $url, int $wait = 10): array
    {
        return $this->sqs->receiveMessage([
            'QueueUrl' => $url, 'MaxNumberOfMessages' => 10, 'WaitTimeSeconds' => $wait, 'AttributeNames' => ['All'], 'MessageAttributeNames' => ['All'],
        ])->getMessages();
    }

    private function remove(string $url, $m): void
    {
        $this->sqs->deleteMessage(['QueueUrl' => $url, 'ReceiptHandle' => $m->getReceiptHandle()])->resolve();
    }
}

function equal($want, $got): void
{
    if ($want != $got) {
        throw new RuntimeException('want '.var_export($want, true).', got '.var_export($got, true));
    }
}

function fails(string $code, callable $call): void
{
    try {
        $call();
    } catch (HttpException $refusal) {
        equal($code, $refusal->getAwsCode());

        return;
    }
    throw new RuntimeException("want $code, got an answer");
}

exit((new Scenario())->run() ? 0 : 1);
