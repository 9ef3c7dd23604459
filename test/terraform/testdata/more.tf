# The less usual attributes and kinds of resources

data "aws_sqs_queue" "lost" {
  name = "orders-lost"
}

resource "aws_sqs_queue" "prefixed" {
  name_prefix             = "orders-"
  fifo_queue              = true
  sqs_managed_sse_enabled = !var.changed
  tags                    = var.changed ? {} : { team = "a" }
}

resource "aws_sqs_queue" "encrypted" {
  name                              = "encrypted"
  kms_master_key_id                 = "alias/aws/sqs"
  kms_data_key_reuse_period_seconds = var.changed ? 600 : 60
  max_message_size                  = var.changed ? 262144 : 1024
}

# The second apply takes these away, beside what it waits for anyway. The policy is not in the form that servers show.

resource "aws_sqs_queue_redrive_policy" "failed" {
  count     = var.changed ? 0 : 1
  queue_url = data.aws_sqs_queue.failed.url

  redrive_policy = jsonencode({ deadLetterTargetArn = data.aws_sqs_queue.lost.arn, maxReceiveCount = 5 })
}

resource "aws_sqs_queue_redrive_allow_policy" "lost" {
  count     = var.changed ? 0 : 1
  queue_url = data.aws_sqs_queue.lost.url

  redrive_allow_policy = jsonencode({
    redrivePermission = "byQueue"
    sourceQueueArns   = [data.aws_sqs_queue.failed.arn]
  })
}

resource "aws_sqs_queue_policy" "lost" {
  count     = var.changed ? 0 : 1
  queue_url = data.aws_sqs_queue.lost.url

  policy = <<-POLICY
    { "Version": "2012-10-17", "Id": "lost",
      "Statement": { "Sid": "all", "Effect": "Allow", "Principal": { "AWS": "${aws_iam_role.logs.arn}" },
                     "Action": "sqs:SendMessage", "Resource": "${data.aws_sqs_queue.lost.arn}" } }
  POLICY
}

resource "aws_sns_topic" "prefixed" {
  name_prefix           = "news-"
  fifo_topic            = true
  fifo_throughput_scope = var.changed ? "Topic" : "MessageGroup"
}

resource "aws_sns_topic" "logged" {
  name              = "logged"
  kms_master_key_id = var.changed ? null : "alias/aws/sns"

  application_failure_feedback_role_arn    = aws_iam_role.logs.arn
  application_success_feedback_role_arn    = aws_iam_role.logs.arn
  application_success_feedback_sample_rate = var.changed ? 1 : 100
  firehose_failure_feedback_role_arn       = aws_iam_role.logs.arn
  firehose_success_feedback_role_arn       = aws_iam_role.logs.arn
  firehose_success_feedback_sample_rate    = 60
  http_failure_feedback_role_arn           = aws_iam_role.logs.arn
  http_success_feedback_role_arn           = aws_iam_role.logs.arn
  http_success_feedback_sample_rate        = 80
  lambda_failure_feedback_role_arn         = aws_iam_role.logs.arn
  lambda_success_feedback_role_arn         = aws_iam_role.logs.arn
  lambda_success_feedback_sample_rate      = 90
}

resource "aws_sns_topic_data_protection_policy" "logged" {
  arn = aws_sns_topic.logged.arn

  policy = jsonencode({
    Name    = "addresses"
    Version = "2021-06-01"
    Statement = [{
      Sid            = "deny"
      DataDirection  = "Inbound"
      Principal      = ["*"]
      DataIdentifier = ["arn:aws:dataprotection::aws:data-identifier/EmailAddress"]
      Operation      = { Deny = {} }
    }]
  })
}

# A mailbox stays unconfirmed.
resource "aws_sns_topic_subscription" "mailbox" {
  topic_arn = aws_sns_topic.logged.arn
  protocol  = "email"
  endpoint  = "orders@example.com"
}

data "aws_sns_topic" "logged" {
  name = aws_sns_topic.logged.name
}

data "aws_iam_policy_document" "receive" {
  statement {
    actions   = ["sqs:ReceiveMessage"]
    resources = ["*"]
  }
}

resource "aws_iam_policy" "receive" {
  name_prefix = "receive-"
  path        = "/queues/"
  policy      = data.aws_iam_policy_document.receive.json
  tags        = var.changed ? {} : { team = "a" }
}

# Renamed and moved by the second apply
resource "aws_iam_user" "moved" {
  name                 = var.changed ? "moved" : "unmoved"
  path                 = var.changed ? "/there/" : "/here/"
  permissions_boundary = var.changed ? null : aws_iam_policy.send.arn
  force_destroy        = true
}

resource "aws_iam_user_login_profile" "worker" {
  user                    = aws_iam_user.worker.name
  password_reset_required = true
}

resource "aws_iam_user_policy_attachment" "worker" {
  user       = aws_iam_user.worker.name
  policy_arn = aws_iam_policy.send.arn
}

resource "aws_iam_virtual_mfa_device" "worker" {
  virtual_mfa_device_name = "worker"
}

resource "aws_iam_group" "moved" {
  name = var.changed ? "moved" : "unmoved"
}

resource "aws_iam_group_membership" "moved" {
  name  = "members"
  group = aws_iam_group.moved.name
  users = var.changed ? [aws_iam_user.moved.name] : [aws_iam_user.moved.name, aws_iam_user.worker.name]
}

resource "aws_iam_group_policy" "moved" {
  name_prefix = "inline-"
  group       = aws_iam_group.moved.name
  policy      = data.aws_iam_policy_document.receive.json
}

resource "aws_iam_role" "prefixed" {
  name_prefix           = "shop-"
  path                  = "/queues/"
  description           = var.changed ? "reads" : "sends"
  permissions_boundary  = var.changed ? null : aws_iam_policy.receive.arn
  force_detach_policies = true
  assume_role_policy    = aws_iam_role.logs.assume_role_policy
  tags                  = var.changed ? { team = "b" } : { team = "a", stage = "test" }
}

resource "aws_iam_role_policy" "prefixed" {
  name   = "inline"
  role   = aws_iam_role.prefixed.name
  policy = jsonencode({ Version = "2012-10-17", Statement = { Effect = "Allow", Action = var.changed ? "sqs:Get*" : "sqs:List*", Resource = "*" } })
}

resource "aws_iam_role_policies_exclusive" "prefixed" {
  role_name    = aws_iam_role.prefixed.name
  policy_names = [aws_iam_role_policy.prefixed.name]
}

# Modules make these for the services of AWS that their resources use.
resource "aws_iam_service_linked_role" "scaling" {
  aws_service_name = "autoscaling.amazonaws.com"
  custom_suffix    = "queues"
  description      = var.changed ? "scales consumers" : null
  tags             = var.changed ? {} : { team = "a" }
}

resource "aws_iam_policy_attachment" "receive" {
  name       = "receive"
  roles      = [aws_iam_role.prefixed.name]
  groups     = var.changed ? [] : [aws_iam_group.workers.name]
  users      = [aws_iam_user.worker.name]
  policy_arn = aws_iam_policy.receive.arn
}

resource "aws_iam_account_alias" "shop" {
  account_alias = var.changed ? "shop" : "old-shop"
}

resource "aws_iam_account_password_policy" "strict" {
  allow_users_to_change_password = true
  minimum_password_length        = var.changed ? 12 : 10
  require_numbers                = true
}

data "aws_iam_role" "prefixed" {
  name = aws_iam_role.prefixed.name
}

data "aws_iam_user" "moved" {
  user_name = aws_iam_user.moved.name
}

data "aws_iam_policy" "receive" {
  arn = aws_iam_policy.receive.arn
}

data "aws_iam_session_context" "me" {
  arn = data.aws_caller_identity.me.arn
}
