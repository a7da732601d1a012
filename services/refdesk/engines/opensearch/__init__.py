"""OpenSearch as every engine on it uses it: one client, its indices, its bulk writes; knows nothing of what is kept there."""
