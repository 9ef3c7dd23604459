# What the test deletes behind Terraform's back.

resource "aws_sns_topic" "gone" {
  name = "gone"
}

resource "aws_iam_user" "gone" {
  name = "gone"
}

resource "aws_iam_group" "gone" {
  name = "gone"
}

resource "aws_iam_group_policy" "gone" {
  name   = "gone"
  group  = aws_iam_group.gone.name
  policy = data.aws_iam_policy_document.receive.json
}

resource "aws_cloudwatch_dashboard" "gone" {
  dashboard_name = "gone"
  dashboard_body = jsonencode({ widgets = [] })
}

resource "aws_cloudwatch_metric_alarm" "gone" {
  alarm_name          = "gone"
  namespace           = "shop"
  metric_name         = "Orders"
  statistic           = "Sum"
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  period              = 60
  evaluation_periods  = 1
}
