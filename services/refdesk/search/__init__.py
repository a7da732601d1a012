"""refdesk's search."""
