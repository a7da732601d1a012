"""refdesk's telemetry."""
