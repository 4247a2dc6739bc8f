"""What tells languages apart."""
