"""One process tree on one machine: sockets between the processes, their birth and death, the lock, the clock.

Boxes know nothing of this package; `parcahyd.topology` gives it to them through ports.
"""
