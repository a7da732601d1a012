"""refdesk's ingest sources."""
