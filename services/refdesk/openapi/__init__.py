"""OpenAPI specs, read and shown without any service: ingest makes pages of them, the gateway answers slices of them."""
