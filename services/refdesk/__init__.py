"""refdesk: a reference desk for agents."""
