"""From a bag to its lattice.

settings         what can be set; options has it at the command line
generator        phrases, search and fallbacks of one bag; batches of them
many             a stream of bags in memory, in worker processes
rung             the rules that a bag is ordered by, and those that it falls back to
piece            long sentences piece by piece
exact            the search that proves its optimum, with exact_bound, exact_forward, exact_kernel and exact_result
work             the steps that a search may take
rtn              the published algorithms over a recursive transition network: network has what they have in common,
                 right_linear (with right_linear_chart) and binary_rtn (with binary, binary_kernel) the two grammars
history          models that remember the words before them, for overlapping phrases
"""
