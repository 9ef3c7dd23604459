# An application's use of SQS, with version 1 of the AWS SDK for Ruby against a running server. Debian has this version, which
# uses Query and verifies the MD5 of bodies and attributes.
#
# It is older than FIFO queues, and cannot name a message group.
#
# AWS_ENDPOINT_URL names the server; the SDK finds the keys as usual.

require "aws-sdk-v1"
require "json"
require "securerandom"
require "uri"

BODY = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n"

server = URI(ENV.fetch("AWS_ENDPOINT_URL"))
SQS = AWS::SQS.new(sqs_endpoint: server.host, sqs_port: server.port, use_ssl: server.scheme == "https", region: "us-east-1")
QUEUES = []

def equal(want, got)
  raise "want #{want.inspect}, got #{got.inspect}" unless want == got
end

def create(options = {}, suffix = "")
  queue = SQS.queues.create("ruby-#{SecureRandom.uuid}#{suffix}", options)
  QUEUES << queue
  queue
end

def one(queue)
  queue.receive_message(wait_time_seconds: 10, attributes: [:all], message_attribute_names: ["All"]) or raise "nothing was received"
end

def fails(error)
  yield
rescue error
  nil
else
  raise "want #{error}, got an answer"
end

STEPS = {
  "queues" => lambda do
    queue = create(delay_seconds: 3, visibility_timeout: 45)
    equal [3, 45], [queue.delay_seconds, queue.visibility_timeout]
    queue.visibility_timeout = 50
    equal 50, queue.visibility_timeout
    equal true, queue.exists?
    name = queue.url.split("/").last
    equal queue.url, SQS.queues.named(name).url
    equal [queue.url], SQS.queues.with_prefix(name).map(&:url)
  end,

  "send and receive" => lambda do
    queue = create
    attributes = {
      "colour" => { "data_type" => "String", "string_value" => "blå <&> \r\n" },
      "count" => { "data_type" => "Number", "string_value" => "-12.50" },
    }
    sent = queue.send_message(BODY, message_attributes: attributes)
    m = one(queue)
    equal sent.message_id, m.id
    equal BODY, m.body
    attributes.each { |name, want| equal want["string_value"], m.message_attributes[name][:string_value] }
    equal 1, m.receive_count
    m.delete
    equal 0, queue.invisible_messages
  end,

  "batches" => lambda do
    queue = create
    sent = queue.batch_send((0..9).map { |i| "#{i}#{BODY}" })
    equal 10, sent.size
    got = []
    got.concat(queue.receive_message(limit: 10, wait_time_seconds: 10)) while got.size < 10
    equal 10, got.map(&:body).uniq.size
    queue.batch_change_visibility(got.first(2).map { |m| { message: m, visibility_timeout: 600 } })
    queue.batch_delete(got)
    equal [0, 0], [queue.visible_messages, queue.invisible_messages]
  end,

  "visibility" => lambda do
    queue = create(visibility_timeout: 600)
    queue.send_message("a")
    one(queue).visibility_timeout = 0
    again = one(queue)
    equal 2, again.receive_count
    again.visibility_timeout = 900
    equal nil, queue.receive_message
  end,

  "dead letters" => lambda do
    dead = create
    queue = create(visibility_timeout: 0)
    policy = JSON.generate(deadLetterTargetArn: dead.arn, maxReceiveCount: 1)
    SQS.client.set_queue_attributes(queue_url: queue.url, attributes: { "RedrivePolicy" => policy })
    queue.send_message("poison")
    one(queue)
    equal nil, queue.receive_message
    equal "poison", one(dead).body
    equal [queue.url], SQS.client.list_dead_letter_source_queues(queue_url: dead.url)[:queue_urls]
  end,

  "policy" => lambda do
    queue = create
    queue.policy = AWS::SQS::Policy.new { |p| p.allow(actions: [:send_message], principals: :any, resources: [queue]) }
    equal 1, queue.policy.statements.size
    queue.policy = nil
    equal nil, queue.policy
  end,

  "poll" => lambda do
    queue = create
    queue.send_message("late", delay_seconds: 1)
    got = []
    queue.poll(idle_timeout: 2, wait_time_seconds: 5, initial_timeout: false) do |m| # it deletes the messages that the block has handled
      got << m.body
      break if m.body == "late"
    end
    equal ["late"], got
  end,

  "errors" => lambda do
    queue = create
    fails(AWS::SQS::Errors::NonExistentQueue) { SQS.queues.named("nowhere") }
    fails(AWS::SQS::Errors::ReceiptHandleIsInvalid) { SQS.client.delete_message(queue_url: queue.url, receipt_handle: "x") }
    fails(AWS::SQS::Errors::InvalidMessageContents) { queue.send_message("\u0001") }
  end,
}

failed = 0
STEPS.each do |name, step|
  step.call
  puts "ok      #{name}"
rescue StandardError => e
  failed += 1
  puts "FAILED  #{name}: #{e.class}: #{e.message}", e.backtrace.first(5)
end
QUEUES.each(&:delete)
exit(failed.zero?)
