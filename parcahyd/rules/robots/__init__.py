"""What sites ask of robots: robots.txt, `X-Robots-Tag` and `<meta name=robots>`."""
