"""The files of models: folders, checks, downloads and export."""
