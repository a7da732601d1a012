"""refdesk's gateway."""
