"""What services share about engines that several of them use; knows nothing of any service."""
