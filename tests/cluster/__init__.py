"""A real Kubernetes in namespaces of this machine, for tests; it knows nothing of what is installed on it."""
