"""refdesk's gateway surfaces."""
