"""The lab: the crawler's own strategies on recorded data and a simulated clock, beside the papers' figures and their rivals.

Each experiment is one file that takes data and a seed and returns a `report.LabTable`; the commands are `parcahyd lab NAME`,
one file each in `parcahyd/cli/`. An experiment uses the classes that a real cluster uses, and never a copy of them.

| what | file |
|---|---|
| recorded data, with checksums | `data` |
| tables with everything that is needed to repeat them | `report` |
| pictures | `bars` |
"""
