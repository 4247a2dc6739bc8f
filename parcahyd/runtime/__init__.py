"""What the processes of a run need of the system: channels between them, how children start and end, the lock, the clock.

Boxes do not import this package; `parcahyd.topology` gives them what they need through ports.
"""
