# What was there before Terraform. The first apply imports it, and changes nothing of it.

import {
  to = aws_sns_topic.adopted
  id = "arn:aws:sns:us-east-1:000000000000:adopted"
}

resource "aws_sns_topic" "adopted" {
  name = "adopted"
}

import {
  to = aws_sqs_queue.adopted
  id = "${var.endpoint}/000000000000/adopted"
}

resource "aws_sqs_queue" "adopted" {
  name = "adopted"
}

import {
  to = aws_iam_user.adopted
  id = "adopted"
}

resource "aws_iam_user" "adopted" {
  name = "adopted"
}

import {
  to = aws_cloudwatch_metric_alarm.adopted
  id = "adopted"
}

resource "aws_cloudwatch_metric_alarm" "adopted" {
  alarm_name          = "adopted"
  namespace           = "shop"
  metric_name         = "Orders"
  statistic           = "Sum"
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  period              = 60
  evaluation_periods  = 1
}
