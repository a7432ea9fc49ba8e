"""The command line, with one file for each command and a package for the parts that they share."""
