"""Values: the records that cross between boxes, the life of a URL, the five signals, the ports, the errors.

Nothing here touches the network, the disk, the clock or chance, so every other package may import it.
"""
