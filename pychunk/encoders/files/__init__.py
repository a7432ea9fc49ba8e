"""What a model is on disk, where it comes from and how it is made: folders, checks, downloads, export."""
