"""What all rooms stand on: arguments checked against annotations, files written whole, standard output."""
