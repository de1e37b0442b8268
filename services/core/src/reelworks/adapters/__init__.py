"""The ports on AWS (and anything that speaks its protocols). The only place that knows boto3."""
