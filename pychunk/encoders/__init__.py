"""The encoders, which turn sentences into vectors."""
