"""The dlq-janitor: looks at every row that somebody must look at by now, and repairs what got stuck."""
