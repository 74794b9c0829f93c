"""Pictures and films of series, drawn off screen."""
