"""refdesk's ingest."""
