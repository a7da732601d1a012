"""Turns the weights of a registered model into a model folder, at set-up and image build; never imported while serving."""
