"""NATS servers as several services use them: where they are, who we are to them, and a connection; knows nothing of streams."""
