"""upload-api: signs uploads, tells what became of them, and serves the page that does both."""
