"""From a bag to its lattice.

settings         what can be set; options has it at the command line
generator        phrases, search and fallbacks of one bag; batches of them
exact            the search that proves its optimum, with exact_bound, exact_forward, exact_kernel and exact_result
work             the steps that a search may take
constraint       what bags may ask for besides their tokens
rtn, rtn_chart   the published algorithms over a recursive transition network
"""
