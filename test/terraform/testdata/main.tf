# What people who run queues declare. The variable changed is false for the first apply, and true for the second.
terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

variable "endpoint" {
  type = string
}

variable "changed" {
  type    = bool
  default = false
}

provider "aws" {
  region                      = "us-east-1"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = false

  endpoints {
    cloudtrail = var.endpoint
    cloudwatch = var.endpoint
    iam        = var.endpoint
    sns        = var.endpoint
    sqs        = var.endpoint
    sts        = var.endpoint
  }
}

data "aws_caller_identity" "me" {}

# Queues. The provider waits for 25 seconds after it has set attributes of a queue. So the queues do not depend on each other,
# and the dead-letter queue is there already.

data "aws_sqs_queue" "failed" {
  name = "orders-failed"
}

locals {
  orders = "arn:aws:sqs:us-east-1:${data.aws_caller_identity.me.account_id}:orders"
}

resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = var.changed ? 60 : 120
  delay_seconds              = var.changed ? 0 : 5

  redrive_policy = jsonencode({
    deadLetterTargetArn = data.aws_sqs_queue.failed.arn
    maxReceiveCount     = var.changed ? 3 : 5
  })

  redrive_allow_policy = jsonencode({ redrivePermission = "denyAll" })

  policy = data.aws_iam_policy_document.from_topic.json
  tags   = var.changed ? { team = "b" } : { team = "a", stage = "test" }
}

resource "aws_sqs_queue" "ordered" {
  name                        = "ordered.fifo"
  fifo_queue                  = true
  content_based_deduplication = true
  deduplication_scope         = "messageGroup"
  fifo_throughput_limit       = "perMessageGroupId"
}

data "aws_iam_policy_document" "from_topic" {
  statement {
    actions   = ["sqs:SendMessage"]
    resources = [local.orders]

    principals {
      type        = "Service"
      identifiers = ["sns.amazonaws.com"]
    }

    condition {
      test     = "ArnEquals"
      variable = "aws:SourceArn"
      values   = [aws_sns_topic.news.arn]
    }
  }
}

# The policy is taken away by the second apply. The queue is not Terraform's: the provider waits half a minute for a queue,
# and then for its policy.
resource "aws_sqs_queue_policy" "failed" {
  count     = var.changed ? 0 : 1
  queue_url = data.aws_sqs_queue.failed.url

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "sns.amazonaws.com" }
      Action    = "sqs:SendMessage"
      Resource  = data.aws_sqs_queue.failed.arn
      Condition = { ArnEquals = { "aws:SourceArn" = aws_sns_topic.ordered.arn } }
    }]
  })
}

# Topics

resource "aws_sns_topic" "news" {
  name              = "news"
  display_name      = var.changed ? "News" : ""
  signature_version = var.changed ? 2 : 1
  tracing_config    = var.changed ? "PassThrough" : "Active"

  sqs_success_feedback_role_arn    = var.changed ? null : aws_iam_role.logs.arn
  sqs_failure_feedback_role_arn    = var.changed ? null : aws_iam_role.logs.arn
  sqs_success_feedback_sample_rate = var.changed ? 0 : 10

  delivery_policy = var.changed ? null : jsonencode({
    http = {
      defaultHealthyRetryPolicy = {
        minDelayTarget     = 20
        maxDelayTarget     = 20
        numRetries         = 3
        numMaxDelayRetries = 0
        numNoDelayRetries  = 0
        numMinDelayRetries = 0
        backoffFunction    = "linear"
      }
      disableSubscriptionOverrides = false
    }
  })

  tags = { team = var.changed ? "b" : "a" }
}

resource "aws_sns_topic" "ordered" {
  name                        = "ordered.fifo"
  fifo_topic                  = true
  content_based_deduplication = var.changed
}

resource "aws_sns_topic" "inline" {
  name = "inline"

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = var.changed ? "*" : data.aws_caller_identity.me.account_id }
      Action    = ["SNS:Publish", "SNS:Subscribe"]
      Resource  = "arn:aws:sns:us-east-1:${data.aws_caller_identity.me.account_id}:inline"
    }]
  })
}

# The policy is taken away by the second apply.
resource "aws_sns_topic_policy" "news" {
  count = var.changed ? 0 : 1
  arn   = aws_sns_topic.news.arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "cloudwatch.amazonaws.com" }
      Action    = "SNS:Publish"
      Resource  = aws_sns_topic.news.arn
    }]
  })
}

resource "aws_sns_topic_subscription" "orders" {
  topic_arn            = aws_sns_topic.news.arn
  protocol             = "sqs"
  endpoint             = aws_sqs_queue.orders.arn
  raw_message_delivery = !var.changed
  filter_policy_scope  = var.changed ? "MessageBody" : "MessageAttributes"
  filter_policy        = var.changed ? jsonencode({ order = { stage = ["paid"] } }) : jsonencode({ stage = ["paid"] })
  redrive_policy       = var.changed ? null : jsonencode({ deadLetterTargetArn = data.aws_sqs_queue.failed.arn })
  delivery_policy      = jsonencode({ requestPolicy = { headerContentType = "application/json" } })
}

resource "aws_sns_topic_subscription" "ordered" {
  topic_arn            = aws_sns_topic.ordered.arn
  protocol             = "sqs"
  endpoint             = aws_sqs_queue.ordered.arn
  raw_message_delivery = true
}

resource "aws_sns_topic_subscription" "phone" {
  topic_arn     = aws_sns_topic.news.arn
  protocol      = "sms"
  endpoint      = "+15551234567"
  filter_policy = jsonencode({ stage = [var.changed ? "failed" : "lost"] })
}

resource "aws_sns_sms_preferences" "all" {
  default_sms_type                      = var.changed ? "Promotional" : "Transactional"
  default_sender_id                     = "orders"
  delivery_status_iam_role_arn          = aws_iam_role.logs.arn
  delivery_status_success_sampling_rate = var.changed ? "10" : "0"
}

resource "aws_iam_role" "logs" {
  name = "logs"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "sns.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })
}

# Alarms and dashboards

resource "aws_cloudwatch_metric_alarm" "backlog" {
  alarm_name          = "backlog"
  alarm_description   = "Orders wait."
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.orders.name }
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = var.changed ? 200 : 100
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.news.arn]
  ok_actions          = var.changed ? [aws_sns_topic.news.arn] : []
  tags                = { team = var.changed ? "b" : "a" }
}

resource "aws_cloudwatch_metric_alarm" "age" {
  alarm_name          = "age"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  dimensions          = { QueueName = aws_sqs_queue.orders.name }
  extended_statistic  = var.changed ? "p99.9" : "p90"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 300
  period              = 60
  evaluation_periods  = 3

  evaluate_low_sample_count_percentiles = var.changed ? "ignore" : "evaluate"
}

resource "aws_cloudwatch_metric_alarm" "unusual" {
  alarm_name          = "unusual"
  comparison_operator = var.changed ? "GreaterThanUpperThreshold" : "LessThanLowerOrGreaterThanUpperThreshold"
  threshold_metric_id = "e1"
  evaluation_periods  = 2

  metric_query {
    id          = "e1"
    expression  = "ANOMALY_DETECTION_BAND(m1, ${var.changed ? 3 : 2})"
    label       = "Sent (Expected)"
    return_data = true
  }

  metric_query {
    id          = "m1"
    return_data = true

    metric {
      namespace   = "AWS/SQS"
      metric_name = "NumberOfMessagesSent"
      period      = 300
      stat        = "Sum"
      dimensions  = { QueueName = aws_sqs_queue.orders.name }
    }
  }
}

resource "aws_cloudwatch_contributor_insight_rule" "senders" {
  rule_name  = "senders"
  rule_state = var.changed ? "DISABLED" : "ENABLED"
  tags       = { team = var.changed ? "b" : "a" }

  rule_definition = jsonencode({
    Schema        = { Name = "CloudWatchLogRule", Version = 1 }
    LogGroupNames = ["orders"]
    LogFormat     = "JSON"
    Contribution  = { Keys = ["$.sender"], Filters = [] }
    AggregateOn   = "Count"
  })
}

resource "aws_cloudwatch_composite_alarm" "trouble" {
  alarm_name        = "trouble"
  alarm_description = "Orders wait, and many fail."
  alarm_rule        = "ALARM(${aws_cloudwatch_metric_alarm.backlog.alarm_name}) ${var.changed ? "AND" : "OR"} ALARM(${aws_cloudwatch_metric_alarm.ratio.arn})"
  alarm_actions     = [aws_sns_topic.news.arn]
  ok_actions        = var.changed ? [aws_sns_topic.news.arn] : []
  tags              = { team = var.changed ? "b" : "a" }

  actions_suppressor {
    alarm            = aws_cloudwatch_metric_alarm.ratio.alarm_name
    extension_period = var.changed ? 60 : 10
    wait_period      = 20
  }
}

resource "aws_cloudwatch_composite_alarm" "above" {
  alarm_name      = "above"
  alarm_rule      = "OK(${aws_cloudwatch_composite_alarm.trouble.alarm_name})"
  actions_enabled = false
}

resource "aws_cloudwatch_metric_alarm" "ratio" {
  alarm_name          = "ratio"
  comparison_operator = "GreaterThanOrEqualToThreshold"
  threshold           = 0.5
  evaluation_periods  = 1

  metric_query {
    id          = "e1"
    expression  = "m1 / (m2 + 1)"
    label       = "failed of all"
    return_data = true
  }

  metric_query {
    id = "m1"

    metric {
      namespace   = "AWS/SQS"
      metric_name = "NumberOfMessagesSent"
      dimensions  = { QueueName = data.aws_sqs_queue.failed.name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id = "m2"

    metric {
      namespace   = "AWS/SQS"
      metric_name = "NumberOfMessagesSent"
      dimensions  = { QueueName = aws_sqs_queue.orders.name }
      period      = var.changed ? 600 : 300
      stat        = "Sum"
    }
  }
}

resource "aws_cloudwatch_dashboard" "queues" {
  dashboard_name = "queues"

  dashboard_body = jsonencode({
    widgets = [{
      type   = "metric"
      x      = 0
      y      = 0
      width  = var.changed ? 24 : 12
      height = 6
      properties = {
        metrics = [["AWS/SQS", "NumberOfMessagesSent", "QueueName", aws_sqs_queue.orders.name]]
        region  = "us-east-1"
        period  = 60
        stat    = "Sum"
      }
    }]
  })
}

# Trails

resource "aws_cloudtrail" "all" {
  name                          = "all"
  s3_bucket_name                = "trails"
  s3_key_prefix                 = var.changed ? "b" : "a"
  include_global_service_events = true
  enable_log_file_validation    = true

  advanced_event_selector {
    name = "queues"

    field_selector {
      field  = "eventCategory"
      equals = ["Data"]
    }

    field_selector {
      field  = "resources.type"
      equals = ["AWS::SQS::Queue"]
    }
  }
}

# Users, roles and policies

resource "aws_iam_user" "worker" {
  name = "worker"
  path = "/services/"
  tags = { team = var.changed ? "b" : "a" }
}

resource "aws_iam_access_key" "worker" {
  user = aws_iam_user.worker.name
}

resource "aws_iam_user_policy" "worker" {
  name = "inline"
  user = aws_iam_user.worker.name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = var.changed ? ["sqs:ReceiveMessage"] : ["sqs:ReceiveMessage", "sqs:DeleteMessage"]
      Resource = aws_sqs_queue.orders.arn
    }]
  })
}

resource "aws_iam_group" "workers" {
  name = "workers"
}

resource "aws_iam_user_group_membership" "worker" {
  user   = aws_iam_user.worker.name
  groups = [aws_iam_group.workers.name]
}

resource "aws_iam_policy" "send" {
  name        = "send"
  description = "Send orders."

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = var.changed ? ["sqs:SendMessage"] : ["sqs:SendMessage", "sqs:GetQueueUrl"]
      Resource = aws_sqs_queue.orders.arn
    }]
  })
}

resource "aws_iam_group_policy_attachment" "send" {
  group      = aws_iam_group.workers.name
  policy_arn = aws_iam_policy.send.arn
}

resource "aws_iam_role" "shop" {
  name                 = "shop"
  max_session_duration = var.changed ? 7200 : 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = aws_iam_user.worker.arn }
      Action    = "sts:AssumeRole"
    }]
  })
}

resource "aws_iam_role_policy_attachment" "send" {
  role       = aws_iam_role.shop.name
  policy_arn = aws_iam_policy.send.arn
}

# A role for jobs in CI, which have no keys of their own, with all that modules make of one

resource "aws_iam_openid_connect_provider" "ci" {
  url             = "https://token.actions.githubusercontent.com"
  client_id_list  = var.changed ? ["sts.amazonaws.com", "other"] : ["sts.amazonaws.com"]
  thumbprint_list = ["ffffffffffffffffffffffffffffffffffffffff"]
  tags            = { team = "payments" }
}

resource "aws_iam_role" "ci" {
  name = "ci"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = aws_iam_openid_connect_provider.ci.arn }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = {
        StringEquals = { "token.actions.githubusercontent.com:aud" = "sts.amazonaws.com" }
        StringLike   = { "token.actions.githubusercontent.com:sub" = "repo:acme/shop:*" }
      }
    }]
  })
  max_session_duration = var.changed ? 7200 : 3600
}

resource "aws_iam_instance_profile" "ci" {
  name = "ci"
  role = aws_iam_role.ci.name
  tags = { team = var.changed ? "orders" : "payments" }
}
