"""Speed and memory, measured: each module prints a table with ratios against an alternative in the same run."""
