"""refdesk's embedder."""
