"""One HTML page on runs.

page      the page as a whole, from data
data      runs and files, read, scored and compared
tables, charts, examples   the parts of the page
opinion   models that are asked what they say of outputs and references; model_costs has what the runs kept of that
figures, lattice, svg      drawings: charts, lattices, and charts as files of their own
markup    HTML and SVG with every value escaped; the templates are page.html, tables.html, figure.html, examples.html
"""
