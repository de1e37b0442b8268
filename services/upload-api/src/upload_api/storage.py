"""Under which origins browsers reach the buckets: those that presigned URLs have, derived without signing one."""

from urllib.parse import urlsplit

from reelworks.runtime.settings import Settings


def origins(settings: Settings) -> tuple[str, ...]:
    """For the page's Content-Security-Policy. Virtual hosts are named bucket by bucket, so none but ours is allowed."""
    endpoint = settings.s3.public_endpoint_url or settings.aws.endpoint_url or _amazon(settings.aws.region)
    parts = urlsplit(endpoint)
    scheme, host = parts.scheme, parts.netloc.rpartition("@")[2]
    if settings.addressing == "path":
        return (f"{scheme}://{host}",)
    buckets = (settings.s3.raw_bucket, settings.s3.media_bucket)
    return tuple(dict.fromkeys(f"{scheme}://{bucket}.{host}" for bucket in buckets))


def _amazon(region: str) -> str:
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://s3.{region}.{domain}"
