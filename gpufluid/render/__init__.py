"""The picture: camera, light volume, view-aligned slices, the finished frame."""
