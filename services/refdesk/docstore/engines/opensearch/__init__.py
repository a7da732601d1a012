"""The DocumentStore on OpenSearch; knows nothing of requests or page tokens."""
