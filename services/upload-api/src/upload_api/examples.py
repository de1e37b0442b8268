"""Bodies for the OpenAPI document: one upload from its announcement to its transcript."""

from upload_api.errors import FieldError

_ID = "5f0c3c1e9b7d4a6f8e2d1c0b9a887766"
_MEDIA = (
    f"https://reelworks-media.s3.us-east-1.amazonaws.com/processed/ada/{_ID}/tasks/transcribe/9c1e/transcript"
)

CREATE_EXAMPLE = {
    "fileName": "Interview with Ada.m4a",
    "contentType": "audio/mp4",
    "sizeBytes": 1_048_576,
    "userId": "ada",
    "checksumSha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
}

TICKET_EXAMPLE = {
    "uploadId": _ID,
    "objectKey": f"uploads/ada/{_ID}/Interview-with-Ada.m4a",
    "uploadUrl": f"https://reelworks-raw.s3.us-east-1.amazonaws.com/uploads/ada/{_ID}/Interview-with-Ada.m4a?X-Amz-…",
    "method": "PUT",
    "headers": {
        "Content-Type": "audio/mp4",
        "x-amz-checksum-sha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    },
    "expiresAt": "2026-12-01T05:00:00.000Z",
}

REPROCESS_EXAMPLE = {"profile": "archive", "options": {"mp4": [720]}}

VIEW_EXAMPLE = {
    "uploadId": _ID,
    "status": "COMPLETED",
    "generation": 0,
    "attempts": 1,
    "transcript": "Good morning, Ada.",
    "error": None,
    "updatedAt": "2026-12-01T04:01:30.250Z",
    "fileName": "Interview with Ada.m4a",
    "contentType": "audio/mp4",
    "sizeBytes": 1_048_576,
    "profile": "default",
    "options": None,
    "createdAt": "2026-12-01T04:00:00.000Z",
    "expiresAt": "2026-12-01T05:00:00.000Z",
    "progress": 1.0,
    "secondsLeft": None,
    "tasks": [
        {
            "name": "transcribe",
            "kind": "transcribe",
            "status": "DONE",
            "attempts": 1,
            "progress": 1.0,
            "error": None,
            "startedAt": "2026-12-01T04:01:00.000Z",
            "finishedAt": "2026-12-01T04:01:30.000Z",
        }
    ],
    "captions": {name: f"{_MEDIA}.{name}?X-Amz-…" for name in ("json", "txt", "srt", "vtt")},
    "renditions": [],
    "poster": None,
    "playback": {"hls": f"/api/uploads/{_ID}/playback/master.m3u8", "storyboard": None},
    "preview": None,
    "downloads": {},
    "thumbnails": {},
}

WRONG_FIELDS = (
    FieldError(field="sizeBytes", message="must be the exact size of the file in bytes, at least 1."),
)
