"""JSON Schemas of the shapes that the command line and HTTP answer with, a file each."""
