"""refdesk's docstore."""
