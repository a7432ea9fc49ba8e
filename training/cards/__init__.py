"""The cards of the shipped models."""
